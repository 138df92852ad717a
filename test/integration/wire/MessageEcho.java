import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.stream.Collectors;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.message.ConsumerProtocolAssignment;
import org.apache.kafka.common.message.ConsumerProtocolSubscription;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;

/**
 * Reads messages with Kafka's own classes and writes them again. A line in is `KIND KEY VERSION HEX`, kind being request, response,
 * subscription or assignment; a line out is the hex of what Kafka wrote, or `! ` and why it could not. `versions KEY` gives the range,
 * `errors` all error codes.
 */
public class MessageEcho {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        StringBuilder out = new StringBuilder();
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.split(" ", -1);
            String answer;
            try {
                answer = switch (words[0]) {
                    case "versions" -> versions(Short.parseShort(words[1]));
                    case "errors" -> errors();
                    default -> echo(words);
                };
            } catch (Throwable error) {
                answer = "! " + error.toString().replace('\n', ' ');
            }
            out.append(answer).append('\n');
        }
        System.out.print(out);
    }

    private static String versions(short key) {
        ApiMessageType type = ApiMessageType.fromApiKey(key);
        return type.lowestSupportedVersion() + " " + type.highestSupportedVersion(true) + " " + type.name;
    }

    private static String errors() {
        return Arrays.stream(Errors.values())
            .map(error -> error.code() + ":" + error.name() + ":" + (error.exception() instanceof RetriableException))
            .collect(Collectors.joining(" "));
    }

    private static String echo(String[] words) {
        short key = Short.parseShort(words[1]);
        short version = Short.parseShort(words[2]);
        Message message = switch (words[0]) {
            case "request" -> ApiMessageType.fromApiKey(key).newRequest();
            case "response" -> ApiMessageType.fromApiKey(key).newResponse();
            case "subscription" -> new ConsumerProtocolSubscription();
            default -> new ConsumerProtocolAssignment();
        };
        ByteBuffer given = ByteBuffer.wrap(HexFormat.of().parseHex(words[3]));
        message.read(new ByteBufferAccessor(given), version);
        if (given.hasRemaining()) return "! Kafka left " + given.remaining() + " bytes of " + given.limit();
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer written = ByteBuffer.allocate(message.size(cache, version));
        message.write(new ByteBufferAccessor(written), cache, version);
        return HexFormat.of().formatHex(written.array(), 0, written.position());
    }
}
