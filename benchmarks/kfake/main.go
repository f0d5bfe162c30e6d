// Serves kfake on the loopback port that is given, until it is ended: what `python -m benchmarks
// kfake` measures beside this project's server. One processor is enough for it to be compared with
// a server of one thread: the measuring process says so by GOMAXPROCS and by its affinity.
package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	port, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "the first argument is a port:", err)
		os.Exit(2)
	}
	if _, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(port)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	select {}
}
