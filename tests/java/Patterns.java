import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * What RE2J makes of patterns. A question: a pattern and texts, hex of UTF-8, between commas. An answer: "+" and a 0 or 1 for each
 * text, or "-" and its message in hex.
 */
public class Patterns {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split(",", -1);
            System.out.println(answer(parts));
        }
    }

    private static String text(String hex) {
        return new String(HexFormat.of().parseHex(hex), StandardCharsets.UTF_8);
    }

    private static String answer(String[] parts) {
        try {
            Pattern pattern = Pattern.compile(text(parts[0]));
            StringBuilder found = new StringBuilder("+");
            for (int i = 1; i < parts.length; i++) {
                found.append(pattern.matcher(text(parts[i])).matches() ? '1' : '0');
            }
            return found.toString();
        } catch (PatternSyntaxException refused) {
            return "-" + HexFormat.of().formatHex(refused.getMessage().getBytes(StandardCharsets.UTF_8));
        } catch (Throwable fault) {
            return "?" + fault.getClass().getSimpleName();
        }
    }
}
