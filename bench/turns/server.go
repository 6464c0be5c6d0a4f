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

// serve answers chat completions at once: a tool call until the conversation has had its turns, then text. The path
// names conversation and turns: /NAME/TURNS/chat/completions. It prints its address and runs until its standard input
// ends, so that it cannot outlive the benchmark.
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
	var mu sync.Mutex
	seen := map[string]int{}
	return http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // a local server of a benchmark needs no timeouts
		buf := buffers.Get().(*bytes.Buffer) //nolint:forcetypeassert // New makes them
		defer buffers.Put(buf)
		buf.Reset()
		if _, err := io.Copy(buf, r.Body); err != nil {
			return
		}
		parts := strings.Split(r.URL.Path, "/")
		turns, err := strconv.Atoi(parts[len(parts)-3])
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		mu.Lock()
		seen[r.URL.Path]++
		n := seen[r.URL.Path]
		if n == turns {
			delete(seen, r.URL.Path)
		}
		mu.Unlock()
		answer(w, n, turns, bytes.Contains(buf.Bytes(), []byte(`"stream":true`)))
	}))
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
