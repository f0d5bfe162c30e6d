import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** Which patterns java.util.regex takes. A question: a pattern, hex of UTF-8. An answer: "+", or "-" and why not. */
public class JavaPatterns {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            System.out.println(answer(new String(HexFormat.of().parseHex(line), StandardCharsets.UTF_8)));
        }
    }

    private static String answer(String pattern) {
        try {
            Pattern.compile(pattern);
            return "+";
        } catch (PatternSyntaxException refused) {
            return "-" + refused.getDescription().replaceAll("[^ -~]", "?");
        } catch (Throwable fault) {
            return "?" + fault.getClass().getSimpleName();
        }
    }
}
