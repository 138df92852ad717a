// Command records writes and reads records through franz-go, as a stream of binary records on stdin or stdout.
//
//	records produce BOOTSTRAP TOPIC CODEC              < stream
//	records consume BOOTSTRAP TOPIC PARTITIONS COUNT   > stream
//
// The stream is described in test/compat/record-stream.ts.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 1 && args[0] == "version":
		fmt.Println(version())
	case len(args) == 4 && args[0] == "produce":
		err = produce(args[1], args[2], args[3])
	case len(args) == 5 && args[0] == "consume":
		err = consume(args[1], args[2], args[3], args[4])
	default:
		err = fmt.Errorf("usage: records version | produce BOOTSTRAP TOPIC CODEC | consume BOOTSTRAP TOPIC PARTITIONS COUNT")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "records:", err)
		os.Exit(1)
	}
}

func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, dep := range info.Deps {
		if dep.Path == "github.com/twmb/franz-go" {
			return dep.Version
		}
	}
	return "unknown"
}

func produce(bootstrap, topic, codec string) error {
	codecs := map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
		"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}
	chosen, known := codecs[codec]
	if !known {
		return fmt.Errorf("unknown codec %q", codec)
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.DefaultProduceTopic(topic),
		kgo.ProducerBatchCompression(chosen), kgo.ProducerLinger(5*time.Millisecond))
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var failure atomic.Pointer[error]
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		record, err := readRecord(in)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		client.Produce(ctx, record, func(_ *kgo.Record, err error) {
			if err != nil {
				failure.CompareAndSwap(nil, &err)
			}
		})
	}
	if err := client.Flush(ctx); err != nil {
		return err
	}
	if err := failure.Load(); err != nil {
		return *err
	}
	return nil
}

func consume(bootstrap, topic, partitions, count string) error {
	from := map[int32]kgo.Offset{}
	last, err := strconv.Atoi(partitions)
	if err != nil {
		return err
	}
	for p := 0; p < last; p++ {
		from[int32(p)] = kgo.NewOffset().AtStart()
	}
	wanted, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(bootstrap),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}))
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	for got := 0; got < wanted; {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return fmt.Errorf("after %d of %d records: %w", got, wanted, err)
		}
		fetches.EachRecord(func(record *kgo.Record) {
			if got < wanted {
				writeRecord(out, record)
				got++
			}
		})
	}
	return out.Flush()
}

func readRecord(in *bufio.Reader) (*kgo.Record, error) {
	var fixed [12]byte
	if _, err := io.ReadFull(in, fixed[:]); err != nil {
		return nil, err
	}
	record := &kgo.Record{}
	var err error
	if record.Key, err = readBytes(in); err != nil {
		return nil, err
	}
	if record.Value, err = readBytes(in); err != nil {
		return nil, err
	}
	var count uint32
	if err = binary.Read(in, binary.BigEndian, &count); err != nil {
		return nil, err
	}
	for ; count > 0; count-- {
		name, err := readBytes(in)
		if err != nil {
			return nil, err
		}
		value, err := readBytes(in)
		if err != nil {
			return nil, err
		}
		record.Headers = append(record.Headers, kgo.RecordHeader{Key: string(name), Value: value})
	}
	return record, nil
}

func readBytes(in *bufio.Reader) ([]byte, error) {
	var length int32
	if err := binary.Read(in, binary.BigEndian, &length); err != nil || length < 0 {
		return nil, err
	}
	bytes := make([]byte, length)
	_, err := io.ReadFull(in, bytes)
	return bytes, err
}

func writeRecord(out *bufio.Writer, record *kgo.Record) {
	frame := binary.BigEndian.AppendUint32(nil, uint32(record.Partition))
	frame = binary.BigEndian.AppendUint64(frame, uint64(record.Offset))
	frame = appendBytes(frame, record.Key)
	frame = appendBytes(frame, record.Value)
	frame = binary.BigEndian.AppendUint32(frame, uint32(len(record.Headers)))
	for _, header := range record.Headers {
		frame = appendBytes(frame, []byte(header.Key))
		frame = appendBytes(frame, header.Value)
	}
	out.Write(frame)
}

func appendBytes(frame, bytes []byte) []byte {
	if bytes == nil {
		return binary.BigEndian.AppendUint32(frame, ^uint32(0))
	}
	return append(binary.BigEndian.AppendUint32(frame, uint32(len(bytes))), bytes...)
}
