package tool

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-run/windlass/internal/jq"
)

// program is a jq program over a tool's result.
type program struct{ code *jq.Program }

// newProgram compiles a program; none is a nil program.
func newProgram(src string) (*program, error) {
	if src == "" {
		return nil, nil //nolint:nilnil // there need not be a program
	}
	code, err := jq.Compile(src)
	if err != nil {
		return nil, fmt.Errorf("response_jq: %w", err)
	}
	return &program{code}, nil
}

// run applies the program to a JSON text, see [jq.Program.Run].
func (p *program) run(ctx context.Context, data []byte) (string, error) {
	text, err := p.code.Run(ctx, data, maxText)
	switch {
	case errors.Is(err, jq.ErrOutput):
		return "", &failure{kindOutputLimit, fmt.Errorf("response_jq: the result has more than %d KiB; let it choose less", maxText>>10)}
	case errors.Is(err, jq.ErrMemory):
		return "", &failure{kindOutputLimit, fmt.Errorf("response_jq: %w", err)}
	case err != nil:
		return "", fmt.Errorf("response_jq: %w", err)
	}
	return text, nil
}
