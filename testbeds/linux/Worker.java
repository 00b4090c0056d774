import com.sun.net.httpserver.HttpServer;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.zip.CRC32;

/**
 * A small application server: Worker ADDRESS PORT LIVE_MB THREADS FILE.
 *
 * A request allocates and sorts strings, reads parts of a heap of LIVE_MB that stays alive, and leaves a session behind,
 * of which the last thousand are kept. FILE gets a line for each whole second of the clock: its end, its length, the
 * requests that were answered in it.
 */
public class Worker {
    private static final int STRINGS = 2000;
    private static final int READS = 64;
    private static final int SESSIONS = 1000;

    public static void main(String[] arguments) throws Exception {
        byte[][] live = new byte[Integer.parseInt(arguments[2]) * 256][4096];
        Map<Long, String> sessions = Collections.synchronizedMap(new LinkedHashMap<>() {
            @Override
            protected boolean removeEldestEntry(Map.Entry<Long, String> eldest) {
                return size() > SESSIONS;
            }
        });
        LongAdder answered = new LongAdder();
        HttpServer server = HttpServer.create(new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1])), 64);
        server.createContext("/", exchange -> {
            byte[] page = work(live, sessions).getBytes(StandardCharsets.US_ASCII);
            exchange.sendResponseHeaders(200, page.length);
            exchange.getResponseBody().write(page);
            exchange.close();
            answered.increment();
        });
        server.setExecutor(Executors.newFixedThreadPool(Integer.parseInt(arguments[3])));
        server.start();
        PrintWriter file = new PrintWriter(arguments[4]);
        file.println("end_s,interval_s,requests");
        long before = 0;
        for (double last = 0; ; ) {
            long now = System.currentTimeMillis();
            TimeUnit.MILLISECONDS.sleep(1000 - now % 1000);
            double end = System.currentTimeMillis() / 1000.0;
            long count = answered.sum();
            if (last > 0) {
                file.printf("%.0f,%.3f,%d%n", (double) Math.round(end), end - last, count - before);
                file.flush();
            }
            last = end;
            before = count;
        }
    }

    private static String work(byte[][] live, Map<Long, String> sessions) {
        SplittableRandom random = new SplittableRandom();
        List<String> strings = new ArrayList<>();
        for (int i = 0; i < STRINGS; i++) {
            strings.add(Integer.toHexString(random.nextInt()));
        }
        Collections.sort(strings);
        CRC32 sum = new CRC32();
        for (String string : strings) {
            sum.update(string.getBytes(StandardCharsets.US_ASCII));
        }
        for (int i = 0; i < READS; i++) {
            sum.update(live[random.nextInt(live.length)]);
        }
        sessions.put(random.nextLong(), strings.get(0) + strings.get(STRINGS - 1));
        return (Long.toHexString(sum.getValue()) + "\n").repeat(64);
    }
}
