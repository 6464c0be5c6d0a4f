package jq

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime/metrics"
	"strings"
	"time"
)

// childName is the argv[0] of a child. Nothing else starts a process by it.
const childName = "windlass-jq"

// order is what a child is given on its standard input; the JSON text follows it.
type order struct {
	Program string `json:"program"`
	Limit   int    `json:"limit"`
}

// answer is what a child writes on its standard output.
type answer struct {
	Text  string `json:"text"`
	Error string `json:"error,omitempty"`
	Long  bool   `json:"long,omitempty"` // the text is too long
}

// init is where every binary, tests included, becomes its own child.
func init() {
	if len(os.Args) == 1 && os.Args[0] == childName {
		os.Exit(child(os.Stdin, os.Stdout))
	}
}

// exitMemory is the exit status of a child that took too much memory and saw it itself.
const exitMemory = 77

func child(in io.Reader, out io.Writer) int {
	limitMemory(MaxMemory)
	go watchMemory()
	d := json.NewDecoder(in)
	var o order
	if err := d.Decode(&o); err != nil {
		return 1
	}
	data, err := io.ReadAll(io.MultiReader(d.Buffered(), in))
	if err != nil {
		return 1
	}
	a := answer{}
	if p, err := Compile(o.Program); err != nil {
		a.Error = err.Error()
	} else if a.Text, err = evaluate(context.Background(), p.code, data, o.Limit); err != nil {
		a.Error, a.Long = err.Error(), errors.Is(err, ErrOutput)
	}
	if err := json.NewEncoder(out).Encode(a); err != nil {
		return 1
	}
	return 0
}

// watchMemory ends the process when it has grown too much, which the system may not do.
func watchMemory() {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	for range time.Tick(2 * time.Millisecond) {
		metrics.Read(sample)
		if sample[0].Value.Uint64()-sample[1].Value.Uint64() > MaxMemory {
			os.Exit(exitMemory)
		}
	}
}

// apart runs the program in a process of its own.
func (p *Program) apart(ctx context.Context, data []byte, limit int) (string, error) {
	head, err := json.Marshal(order{Program: p.src, Limit: limit})
	if err != nil {
		return "", err
	}
	self, err := executable()
	if err != nil {
		return "", fmt.Errorf("start a process for the program: %w", err)
	}
	// Six bytes for one is what escaping takes at most.
	var out, errs capped
	out.left, errs.left = 6*limit+(64<<10), 64<<10
	cmd := exec.CommandContext(ctx, self)
	cmd.Args = []string{childName}
	cmd.Env = []string{}
	cmd.Stdin = io.MultiReader(bytes.NewReader(head), bytes.NewReader([]byte("\n")), bytes.NewReader(data))
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case cmd.ProcessState == nil:
		return "", fmt.Errorf("start a process for the program: %w", err)
	case err != nil && (cmd.ProcessState.ExitCode() == exitMemory || runtimeDied(cmd.ProcessState, errs.Bytes()) || ended(cmd.ProcessState)):
		return "", ErrMemory
	}
	var a answer
	if decodeErr := json.Unmarshal(out.Bytes(), &a); err != nil || decodeErr != nil {
		said, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n")
		return "", fmt.Errorf("the process of the program ended without an answer: %s: %.200s", cmd.ProcessState, said)
	}
	switch {
	case a.Long:
		return "", ErrOutput
	case a.Error != "":
		return "", errors.New(a.Error)
	}
	return a.Text, nil
}

// exitRuntime is the exit status with which Go's runtime ends a process.
const exitRuntime = 2

// detectorWords are what the race detector says before it ends a process for want of memory.
var detectorWords = regexp.MustCompile("out of memory|cannot allocate memory|failed to allocate")

// runtimeDied reports whether Go's runtime or the race detector ended a child because the system
// gave no more memory. The runtime has many last words for it: it fails to grow the heap, to make
// a thread, or touches memory that libc was not given. A panic is a fault of the interpreter.
func runtimeDied(s *os.ProcessState, errs []byte) bool {
	return s.ExitCode() == exitRuntime && !bytes.HasPrefix(errs, []byte("panic: ")) || detectorWords.Match(errs)
}

// capped keeps the beginning of what is written.
type capped struct {
	bytes.Buffer
	left int
}

func (c *capped) Write(p []byte) (int, error) {
	n := min(len(p), c.left)
	c.left -= n
	c.Buffer.Write(p[:n])
	return len(p), nil
}
