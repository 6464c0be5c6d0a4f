// Command server is the model of `make bench`. It answers chat completions at once: a tool call until the conversation has had
// its turns, then text. The path names conversation and turns: /NAME/TURNS/chat/completions. It prints its address and runs
// until its standard input ends, so that it cannot outlive the benchmark.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
)

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

func serve() error {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", l.Addr())
	return http.Serve(l, &model{seen: map[string]int{}}) // a local server of a benchmark needs no timeouts
}

// model counts the requests of every conversation that is not at its end. The mutex guards the counts.
type model struct {
	mu   sync.Mutex
	seen map[string]int // by path
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	buf := buffers.Get().(*bytes.Buffer) //nolint:forcetypeassert // New makes them
	defer buffers.Put(buf)
	buf.Reset()
	if _, err := io.Copy(buf, r.Body); err != nil {
		return
	}
	turns, err := turnsOf(r.URL.Path)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer(w, m.count(r.URL.Path, turns), turns, asksForStream(buf.Bytes()))
}

// turnsOf returns how many turns the conversation of a path has.
func turnsOf(path string) (int, error) {
	name, ok := strings.CutSuffix(path, "/chat/completions")
	if !ok {
		return 0, fmt.Errorf("no such path: %s", path)
	}
	turns, err := strconv.Atoi(name[strings.LastIndexByte(name, '/')+1:])
	if err != nil {
		return 0, fmt.Errorf("read the number of turns of %s: %w", path, err)
	}
	return turns, nil
}

// count returns which turn of its conversation a request is.
func (m *model) count(path string, turns int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen[path]++
	n := m.seen[path]
	if n >= turns {
		delete(m.seen, path)
	}
	return n
}

// asksForStream looks at both ends of a request only: to search the history would take the longer the leaner a loop is.
func asksForStream(body []byte) bool {
	const end = 1024
	stream := []byte(`"stream":true`)
	return bytes.Contains(body[:min(end, len(body))], stream) || bytes.Contains(body[max(0, len(body)-end):], stream)
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

const usageJSON = `{"prompt_tokens":1000,"completion_tokens":20,"total_tokens":1020,"prompt_tokens_details":{"cached_tokens":900}}`

func answer(w http.ResponseWriter, n, turns int, stream bool) {
	message := fmt.Sprintf(`"role":"assistant","content":null,"tool_calls":[{%s"id":"call_%d","type":"function","function":{"name":"lookup","arguments":"{\"n\":%d}"}}]`,
		indexIf(stream), n, n)
	finish := "tool_calls"
	if n >= turns {
		message, finish = `"role":"assistant","content":"done"`, "stop"
	}
	const head = `{"id":"x","created":1,"model":"bench",`
	if !stream {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, head+`"object":"chat.completion","choices":[{"index":0,"message":{%s},"finish_reason":"%s"}],"usage":%s}`, message, finish, usageJSON)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: "+head+`"object":"chat.completion.chunk","choices":[{"index":0,"delta":{%s},"finish_reason":null}]}`+"\n\n", message)
	fmt.Fprintf(w, "data: "+head+`"object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"%s"}]}`+"\n\n", finish)
	fmt.Fprintf(w, "data: "+head+`"object":"chat.completion.chunk","choices":[],"usage":%s}`+"\n\ndata: [DONE]\n\n", usageJSON)
}

func indexIf(stream bool) string {
	if stream {
		return `"index":0,`
	}
	return ""
}
