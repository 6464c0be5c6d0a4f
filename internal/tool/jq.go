package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/itchyny/gojq"
)

// program is a jq program over a tool's result.
type program struct{ code *gojq.Code }

// newProgram compiles a program; none is a nil program.
func newProgram(src string) (*program, error) {
	if src == "" {
		return nil, nil //nolint:nilnil // there need not be a program
	}
	q, err := gojq.Parse(src)
	if err != nil {
		return nil, fmt.Errorf("response_jq: %w", err)
	}
	code, err := gojq.Compile(q, gojq.WithEnvironLoader(func() []string { return nil }))
	if err != nil {
		return nil, fmt.Errorf("response_jq: %w", err)
	}
	return &program{code}, nil
}

// run applies the program to a JSON text. A single string is returned bare; several results are one line each.
func (p *program) run(ctx context.Context, data []byte) (string, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return "", fmt.Errorf("response_jq: the result is not JSON: %w", err)
	}
	var lines []string
	size := 0
	iter := p.code.RunWithContext(ctx, v)
	for {
		r, ok := iter.Next()
		if !ok {
			return strings.Join(lines, "\n"), nil
		}
		line, err := resultLine(r)
		if err != nil {
			return "", err
		}
		if size += len(line); size > maxText {
			return "", &failure{kindOutputLimit, fmt.Errorf("response_jq: the result has more than %d KiB; let it choose less", maxText>>10)}
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
		return "", fmt.Errorf("response_jq: %w", x)
	case string:
		return x, nil
	}
	b, err := gojq.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("response_jq: %w", err)
	}
	return string(b), nil
}
