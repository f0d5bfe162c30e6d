import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.utils.internals.Exit;

/**
 * Runs the main classes of Kafka's command-line tools one after another in one JVM, each as if it were alone.
 *
 * <p>A line in asks: {"main": class name, "arguments": [...], "input": text}. A line out answers: {"status", "output",
 * "errors"}. What a tool would have done by exiting (status, shutdown hooks) happens here; its classes are loaded anew each
 * time, since some keep counts in static fields. First argument: the jar of the tools.
 */
public final class ToolRunner {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String TOOLS = "org.apache.kafka.tools.";

    /** Takes the place of the end of the process: unwinds the tool, whose own handlers may catch it and go on. */
    private static final class Exited extends Error {
        Exited() {
            super("exited", null, false, false);
        }
    }

    /** What one tool wrote, until it exited. */
    private static final class Ending {
        final ByteArrayOutputStream output = new ByteArrayOutputStream();
        final ByteArrayOutputStream errors = new ByteArrayOutputStream();
        private ObjectNode reply;

        /** The first call counts: what a tool writes after it, it would not have written as a process. */
        synchronized void end(int status) {
            System.out.flush();
            System.err.flush();
            if (reply == null) {
                reply = JSON.createObjectNode();
                reply.put("status", status);
                reply.put("output", output.toString(StandardCharsets.UTF_8));
                reply.put("errors", errors.toString(StandardCharsets.UTF_8));
            }
        }
    }

    /** Loads the tools' classes itself, and leaves all others to the class path. */
    private static final class FreshTools extends URLClassLoader {
        FreshTools(URL jar) {
            super(new URL[] {jar}, ToolRunner.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(TOOLS)) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                if (loaded != null) {
                    return loaded;
                }
                try {
                    return findClass(name);
                } catch (ClassNotFoundException elsewhere) {
                    return super.loadClass(name, resolve);
                }
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        URL jar = new java.io.File(arguments[0]).toURI().toURL();
        PrintStream replies = System.out;
        BufferedReader asked = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = asked.readLine(); line != null; line = asked.readLine()) {
            replies.println(JSON.writeValueAsString(run(jar, JSON.readTree(line))));
            replies.flush();
        }
    }

    private static ObjectNode run(URL jar, JsonNode asked) throws Exception {
        List<String> given = new ArrayList<>();
        asked.get("arguments").forEach(argument -> given.add(argument.asText()));
        List<Runnable> hooks = new ArrayList<>();
        Ending ending = new Ending();
        Exit.Procedure exit = (status, message) -> {
            hooks.forEach(Runnable::run);
            hooks.clear();
            ending.end(status);
            throw new Exited();
        };
        Exit.setExitProcedure(exit);
        Exit.setHaltProcedure(exit);
        Exit.setShutdownHookAdder((name, hook) -> hooks.add(hook));
        InputStream in = System.in;
        PrintStream out = System.out;
        PrintStream err = System.err;
        System.setIn(new ByteArrayInputStream(asked.get("input").asText().getBytes(StandardCharsets.UTF_8)));
        System.setOut(new PrintStream(ending.output, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(ending.errors, true, StandardCharsets.UTF_8));
        try (FreshTools loader = new FreshTools(jar)) {
            Thread.currentThread().setContextClassLoader(loader);
            int status = main(loader, asked.get("main").asText(), given.toArray(new String[0]));
            hooks.forEach(Runnable::run);
            ending.end(status);
        } finally {
            System.setIn(in);
            System.setOut(out);
            System.setErr(err);
        }
        return ending.reply;
    }

    /** What the process would exit with after main is done: 1 when it throws. */
    private static int main(ClassLoader loader, String name, String[] arguments) throws Exception {
        try {
            Class.forName(name, true, loader).getMethod("main", String[].class).invoke(null, (Object) arguments);
            return 0;
        } catch (InvocationTargetException thrown) {
            if (!(thrown.getCause() instanceof Exited)) {
                System.err.println("Exception in thread \"main\" " + thrown.getCause());
            }
            return 1;
        }
    }
}
