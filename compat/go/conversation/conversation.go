// Package conversation is the Go side of compat/python/conversation.py: the arguments, the records and the lines
// that every client program shares with the runner.
package conversation

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const keys = 40

// Arguments are those of the command line.
type Arguments struct {
	Command     string
	Bootstrap   string
	Topic       string
	Group       string
	Partitions  int
	Records     int64
	FirstID     int
	Plan        string
	PaceMs      float64
	CommitEvery int
	// Of the members of compat/groups/ alone.
	Protocol, Topics, Pattern, Instance string
	// Of those who work a queue alone: what begins so is rejected.
	Reject string
}

// Parse reads the command line.
func Parse() Arguments {
	var args Arguments
	if len(os.Args) < 2 {
		Fail("no command")
	}
	args.Command = os.Args[1]
	flags := flag.NewFlagSet(args.Command, flag.ExitOnError)
	flags.StringVar(&args.Bootstrap, "bootstrap", "", "")
	flags.StringVar(&args.Topic, "topic", "", "")
	flags.StringVar(&args.Group, "group", "", "")
	flags.IntVar(&args.Partitions, "partitions", 0, "")
	flags.Int64Var(&args.Records, "records", 0, "")
	flags.IntVar(&args.FirstID, "first-id", 0, "")
	flags.StringVar(&args.Plan, "plan", "", "")
	flags.Float64Var(&args.PaceMs, "pace-ms", 0, "")
	flags.IntVar(&args.CommitEvery, "commit-every", 100, "")
	flags.StringVar(&args.Protocol, "protocol", "classic", "")
	flags.StringVar(&args.Topics, "topics", "", "")
	flags.StringVar(&args.Pattern, "pattern", "", "")
	flags.StringVar(&args.Instance, "instance", "", "")
	flags.StringVar(&args.Reject, "reject", "", "")
	if err := flags.Parse(os.Args[2:]); err != nil {
		Fail("%v", err)
	}
	return args
}

// Leg is a run of records sent with one codec and one kind of acknowledgement.
type Leg struct {
	Codec, Acks string
	First, End  int
}

// Batch names the leg in a header.
func (leg Leg) Batch() string { return leg.Codec + "/" + leg.Acks }

// Legs reads the plan.
func (args Arguments) Legs() []Leg {
	var legs []Leg
	first := args.FirstID
	for _, part := range strings.Split(args.Plan, ",") {
		fields := strings.Split(part, ":")
		count, err := strconv.Atoi(fields[2])
		Must(err, "plan "+part)
		legs = append(legs, Leg{fields[0], fields[1], first, first + count})
		first += count
	}
	return legs
}

// Key of a record.
func Key(id int) string { return fmt.Sprintf("key-%d", id%keys) }

// Value of a record.
func Value(id int) string {
	return fmt.Sprintf("%d:%s", id, strings.Repeat("abcdefghij", 20)[:50+id%150])
}

var (
	out   = bufio.NewWriter(os.Stdout)
	outMu sync.Mutex
)

// Tell prints one line.
func Tell(fields ...any) {
	outMu.Lock()
	defer outMu.Unlock()
	for i, field := range fields {
		if i > 0 {
			out.WriteByte('\t')
		}
		fmt.Fprint(out, field)
	}
	out.WriteByte('\n')
	out.Flush()
}

// TellRecord prints a record; headers come as "k=v".
func TellRecord(partition int32, offset int64, key, value []byte, headers []string) {
	Tell("got", partition, offset, string(key), string(value), strings.Join(headers, ","))
}

// TellCommit prints an accepted commit: partition to next offset.
func TellCommit(offsets map[int32]int64) {
	var parts []string
	for partition, offset := range offsets {
		parts = append(parts, fmt.Sprintf("%d=%d", partition, offset))
	}
	sort.Strings(parts)
	Tell("committed", strings.Join(parts, ","))
}

// Check prints what held, or ends the program.
func Check(holds bool, what string) {
	if !holds {
		Fail("check failed: %s", what)
	}
	Tell("ok", what)
}

// CheckSoon is Check for what may take a moment: Apache Kafka answers a change of its metadata before the broker that is
// asked next has seen it.
func CheckSoon(holds func() bool, what string) {
	for deadline := time.Now().Add(10 * time.Second); !holds() && time.Now().Before(deadline); {
		time.Sleep(100 * time.Millisecond)
	}
	Check(holds(), what)
}

// Must ends the program on an error.
func Must(err error, what string) {
	if err != nil {
		Fail("%s: %v", what, err)
	}
}

// Fail ends the program with a message.
func Fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}

// Stop is closed when the runner asks for a clean end.
func Stop() <-chan struct{} {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	stop := make(chan struct{})
	go func() {
		<-signals
		close(stop)
	}()
	return stop
}

// Version of a module, as it was built in.
func Version(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, dependency := range info.Deps {
		if dependency.Path == module {
			return dependency.Version
		}
	}
	Fail("%s is not in the build", module)
	return ""
}
