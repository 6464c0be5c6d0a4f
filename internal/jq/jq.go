// Package jq runs jq programs over JSON texts within bounds of time, memory and output.
//
// The interpreter bounds no memory: [range(1e9)] takes all there is. A program that is known to
// take little, such as ".items[] | {id, name}", runs in this process. Any other runs in a child
// process, this binary under another name (child.go) with an empty environment, which the system
// and a watch of its own end at [MaxMemory].
package jq

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/itchyny/gojq"
)

const (
	// MaxMemory is how many bytes of memory a program may take.
	MaxMemory = 512 << 20

	maxSource = 16 << 10 // bytes of a program: compiling one takes memory with its nesting
	maxInside = 32 << 20 // bytes that a program of known weight may handle in this process
)

// The ways in which a program goes beyond its bounds.
var (
	ErrMemory = fmt.Errorf("the program takes more than %d MiB of memory; let it choose less, or make fewer lists and texts", MaxMemory>>20)
	ErrOutput = errors.New("the result is too long")
)

// Program is a compiled program. It is safe for concurrent use.
type Program struct {
	src    string
	code   *gojq.Code
	weight int // how often what is given can occur in what is made; 0: not known
}

// Compile prepares a program. It sees no environment and no files.
func Compile(src string) (*Program, error) {
	if len(src) > maxSource {
		return nil, fmt.Errorf("the program has %d bytes, more than the limit of %d", len(src), maxSource)
	}
	q, err := gojq.Parse(src)
	if err != nil {
		return nil, err
	}
	code, err := gojq.Compile(q, gojq.WithEnvironLoader(func() []string { return nil }))
	if err != nil {
		return nil, err
	}
	return &Program{src: src, code: code, weight: weightOf(q)}, nil
}

// Run applies the program to a JSON text and returns at most limit bytes, several results one a
// line. An error wraps [ErrMemory] or [ErrOutput], or is the program's or that of ctx.
func (p *Program) Run(ctx context.Context, data []byte, limit int) (string, error) {
	if p.weight > 0 && p.weight*len(data) <= maxInside {
		return evaluate(ctx, p.code, data, limit)
	}
	return p.apart(ctx, data, limit)
}

func evaluate(ctx context.Context, code *gojq.Code, data []byte, limit int) (string, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return "", fmt.Errorf("the result is not JSON: %w", err)
	}
	var lines []string
	size := 0
	iter := code.RunWithContext(ctx, v)
	for {
		r, ok := iter.Next()
		if !ok {
			return strings.Join(lines, "\n"), nil
		}
		line, err := resultLine(r)
		if err != nil {
			return "", err
		}
		if size += len(line) + 1; size > limit+1 {
			return "", ErrOutput
		}
		lines = append(lines, line)
	}
}

func resultLine(r any) (string, error) {
	switch x := r.(type) {
	case error:
		var halt *gojq.HaltError
		if errors.As(x, &halt) && halt.Value() == nil {
			return "", nil
		}
		return "", x
	case string:
		return x, nil
	}
	b, err := gojq.Marshal(r)
	return string(b), err
}
