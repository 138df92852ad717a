// Package lines has the lines and commands of a member of a group, for clients in Go; as members/serve.ts has them for JavaScript.
package lines

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

type object = map[string]any

var lock sync.Mutex

// Say prints one line for the driver.
func Say(name string, more object) {
	line := object{"timestamp": time.Now().UnixMilli(), "name": name}
	for key, value := range more {
		line[key] = value
	}
	text, _ := json.Marshal(line)
	lock.Lock()
	defer lock.Unlock()
	os.Stdout.Write(append(text, '\n'))
}

// SayPartitions says what has happened to partitions, if there are any.
func SayPartitions(name string, partitions []int32) {
	list := make([]object, 0, len(partitions))
	for _, partition := range partitions {
		list = append(list, object{"partition": partition})
	}
	if len(list) > 0 {
		Say(name, object{"partitions": list})
	}
}

// SayRecord says that a record was read.
func SayRecord(partition int32, offset int64) {
	Say("records_consumed", object{"count": 1, "partitions": []object{{"partition": partition, "minOffset": offset, "maxOffset": offset}}})
}

// SaySeeked says what is read next of a partition.
func SaySeeked(partition int32, offset int64) {
	Say("seeked", object{"partition": partition, "offset": offset})
}

// SaySent says what was acknowledged to a producer.
func SaySent(partition int32, offset int64) {
	Say("producer_send_success", object{"partition": partition, "offset": offset})
}

// SayCommitted says how a commit went.
func SayCommitted(offsets map[int32]int64, err error) {
	list := make([]object, 0, len(offsets))
	for partition, offset := range offsets {
		list = append(list, object{"partition": partition, "offset": offset})
	}
	more := object{"success": err == nil, "offsets": list}
	if err != nil {
		more["error"] = err.Error()
	}
	Say("offsets_committed", more)
}

// Options of a member.
type Options struct {
	Bootstrap, Topic, Group string
	// Consumer is the protocol, rather than classic.
	Consumer bool
	// FromMs is the time to start from where nothing is committed; 0 for the beginning.
	FromMs int64
	// ByHand commits when told to alone.
	ByHand bool
}

// Command is a line of stdin.
type Command struct {
	What      string
	Partition int32
	Offset    int64
}

// Commands of stdin, closed with `leave` or its end.
func Commands() <-chan Command {
	commands := make(chan Command)
	go func() {
		defer close(commands)
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			words := append(strings.Fields(in.Text()), "0", "0")
			if words[0] == "leave" {
				return
			}
			partition, _ := strconv.Atoi(words[1])
			offset, _ := strconv.ParseInt(words[2], 10, 64)
			commands <- Command{words[0], int32(partition), offset}
		}
	}()
	return commands
}

// Client is a client in its three parts. Produce goes on until it is told to stop.
type Client struct {
	CreateTopic func(bootstrap, topic string, partitions int32) error
	Produce     func(bootstrap, topic string, partitions int32, stopped <-chan Command) error
	Consume     func(options Options, commands <-chan Command) error
}

// Serve runs the part that the arguments ask for:
//
//	topic BOOTSTRAP TOPIC PARTITIONS | produce BOOTSTRAP TOPIC PARTITIONS | consume BOOTSTRAP TOPIC GROUP [NAME=VALUE ...]
func Serve(client Client) {
	if err := serve(client, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "member:", err)
		os.Exit(1)
	}
}

func serve(client Client, args []string) error {
	if len(args) < 4 {
		return fmt.Errorf("usage: topic|produce BOOTSTRAP TOPIC PARTITIONS | consume BOOTSTRAP TOPIC GROUP [NAME=VALUE ...]")
	}
	partitions, _ := strconv.Atoi(args[3])
	switch args[0] {
	case "topic":
		return client.CreateTopic(args[1], args[2], int32(partitions))
	case "produce":
		return client.Produce(args[1], args[2], int32(partitions), Commands())
	}
	options := Options{Bootstrap: args[1], Topic: args[2], Group: args[3]}
	for _, named := range args[4:] {
		name, value, _ := strings.Cut(named, "=")
		switch {
		case name == "from":
			options.FromMs, _ = strconv.ParseInt(value, 10, 64)
		case name == "commit":
			options.ByHand = value == "hand"
		case name == "protocol":
			options.Consumer = value == "consumer"
		}
	}
	err := client.Consume(options, Commands())
	if err == nil {
		Say("shutdown_complete", nil)
	}
	return err
}
