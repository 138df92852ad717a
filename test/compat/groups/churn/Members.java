import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Members of one group through Kafka's consumer, a thread each; arguments, commands and lines as in own-members.ts. */
public class Members {
  static String topic;

  static synchronized void say(String member, String name, String more) {
    System.out.println("{\"timestamp\":" + System.currentTimeMillis() + ",\"member\":\"" + member + "\",\"name\":\"" + name + "\"," + more + "}");
  }

  static class Member extends Thread implements ConsumerRebalanceListener {
    final String name;
    final KafkaConsumer<byte[], byte[]> consumer;
    volatile boolean leaving;

    Member(String name, Properties settings) {
      this.name = name;
      consumer = new KafkaConsumer<>(settings);
    }

    void tell(String what, Collection<TopicPartition> partitions) {
      if (partitions.isEmpty()) return;
      say(name, what, "\"partitions\":[" + partitions.stream().map(each -> "{\"partition\":" + each.partition() + "}").collect(Collectors.joining(",")) + "]");
    }

    public void onPartitionsAssigned(Collection<TopicPartition> partitions) { tell("partitions_assigned", partitions); }
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) { tell("partitions_revoked", partitions); }
    public void onPartitionsLost(Collection<TopicPartition> partitions) { tell("partitions_lost", partitions); }

    void commit(Map<TopicPartition, OffsetAndMetadata> ends) {
      String offsets = ends.entrySet().stream().map(each -> "{\"partition\":" + each.getKey().partition() + ",\"offset\":" + each.getValue().offset() + "}").collect(Collectors.joining(","));
      boolean success = true;
      try {
        consumer.commitSync(ends);
      } catch (KafkaException failure) {
        success = false;
      }
      say(name, "offsets_committed", "\"success\":" + success + ",\"offsets\":[" + offsets + "]");
    }

    public void run() {
      consumer.subscribe(List.of(topic), this);
      while (!leaving) {
        Map<TopicPartition, OffsetAndMetadata> ends = new HashMap<>();
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
          say(name, "records_consumed", "\"partitions\":[{\"partition\":" + record.partition() + ",\"minOffset\":" + record.offset() + ",\"maxOffset\":" + record.offset() + "}]");
          ends.put(new TopicPartition(topic, record.partition()), new OffsetAndMetadata(record.offset() + 1));
        }
        if (!ends.isEmpty()) commit(ends);
      }
      consumer.close();
      say(name, "shutdown_complete", "\"success\":true");
    }
  }

  public static void main(String[] args) throws Exception {
    topic = args[1];
    Properties settings = new Properties();
    settings.put("bootstrap.servers", args[0]);
    settings.put("group.id", args[2]);
    settings.put("enable.auto.commit", "false");
    settings.put("auto.offset.reset", "earliest");
    settings.put("key.deserializer", ByteArrayDeserializer.class);
    settings.put("value.deserializer", ByteArrayDeserializer.class);
    if (args[3].equals("consumer")) {
      settings.put("group.protocol", "consumer");
    } else {
      settings.put("session.timeout.ms", "10000");
      settings.put("heartbeat.interval.ms", "500");
      settings.put("partition.assignment.strategy", "org.apache.kafka.clients.consumer." + (args[3].equals("eager") ? "StickyAssignor" : "CooperativeStickyAssignor"));
    }
    Map<String, Member> members = new ConcurrentHashMap<>();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line = in.readLine(); line != null && line.contains(" "); line = in.readLine()) {
      String[] words = line.split(" ");
      if (words[0].equals("join")) {
        Member member = new Member(words[1], settings);
        members.put(words[1], member);
        member.start();
      } else {
        members.remove(words[1]).leaving = true;
      }
    }
    for (Member member : members.values()) member.leaving = true;
    for (Member member : members.values()) member.join();
  }
}
