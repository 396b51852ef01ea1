// gomemcache: `go-gomemcache version`, or
// `go-gomemcache fill MODE TAG 'HOST PORT WEIGHT'...` with a key a line, each stored as `TAG KEY`.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
)

func main() {
	if os.Args[1] == "version" {
		fmt.Println("with", runtime.Version())
		return
	}
	tag := os.Args[3]

	var servers []string
	for _, arg := range os.Args[4:] {
		server := strings.Fields(arg)
		name := server[0]
		if !strings.Contains(name, "/") {
			name = net.JoinHostPort(server[0], server[1])
		}
		// A server is heavier when it is given more than once.
		weight, err := strconv.Atoi(server[2])
		check(err)
		for ; weight > 0; weight-- {
			servers = append(servers, name)
		}
	}

	client := memcache.New(servers...)
	// Half a second, its own, is not much where all cores are busy.
	client.Timeout = 30 * time.Second
	keys := bufio.NewScanner(os.Stdin)
	for keys.Scan() {
		key := keys.Text()
		check(client.Set(&memcache.Item{Key: key, Value: []byte(tag + " " + key)}))
	}
	check(keys.Err())
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
