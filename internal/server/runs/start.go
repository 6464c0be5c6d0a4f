package runs

import (
	"context"
	"encoding/json"

	"github.com/windlass-run/windlass/cascade"
	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/app/input"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/server"
	"github.com/windlass-run/windlass/internal/server/grants"
)

// Start implements [server.Runs].
func (h *Host) Start(ctx context.Context, r *server.RunRequest) (*server.Session, error) {
	c, file, err := h.cascadeOf(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := h.grants.Check(c); err != nil {
		return nil, err
	}
	input, err := inputOf(ctx, c, r.Input)
	if err != nil {
		return nil, err
	}
	o := h.grants.RunOptions()
	o.NoClickHouse = h.options.NoClickHouse
	if o.Limits, err = h.grants.Limits(r.Budget, budgetOfFile(c)); err != nil {
		return nil, err
	}
	o.SessionID, o.Offline = r.SessionID, o.Offline || r.Offline
	o.Models = core.Models{Default: r.Model, Phases: r.Models}
	s, err := h.begin(ctx, startError, func(ctx context.Context, w core.Watch) (*core.Run, error) {
		return h.app.Start(ctx, core.Job{Cascade: c, File: file, Input: input}, o, w)
	})
	if err == nil {
		h.mark(s.ID)
	}
	return s, err
}

func budgetOfFile(c *cascade.Cascade) cascade.Budget {
	if c.Budget == nil {
		return cascade.Budget{}
	}
	return *c.Budget
}

// What stands for the file of a cascade in a request: before the line of a diagnostic, and else.
const (
	inlineName  = "cascade.json"
	requestName = "the cascade of the request"
)

func (h *Host) cascadeOf(ctx context.Context, r *server.RunRequest) (*cascade.Cascade, string, error) {
	offline := h.grants.Offline() || r.Offline
	if r.File != "" {
		return h.grants.Load(ctx, r.File, offline)
	}
	if offline {
		return nil, "", server.NewProblem(failure.InvalidRequest, "name a file that has a script beside it, or let a model answer",
			"a cascade that comes in a request has no script beside it to answer from offline")
	}
	c, found, err := h.grants.Parse(ctx, inlineName, r.Cascade)
	if err != nil {
		return nil, "", grants.CascadeProblem(inlineName, found, err)
	}
	return c, requestName, nil
}

// inputOf reads and checks the input of a request.
func inputOf(ctx context.Context, c *cascade.Cascade, raw json.RawMessage) (map[string]any, error) {
	values := map[string]any{}
	if raw != nil {
		var err error
		if values, err = input.Object("the input cannot be read", raw); err != nil {
			return nil, server.NewProblem(server.BadRequest, `"input": {...}`, "%v", err)
		}
	}
	violations := c.CheckInputContext(ctx, values)
	if len(violations) == 0 {
		return values, nil
	}
	p := &server.Problem{Kind: failure.InvalidInput, Detail: "the input does not fit the cascade", Try: "correct what violations lists"}
	for _, v := range violations {
		v.Pointer = "/input" + v.Pointer
		p.Detail += "; " + v.String()
		p.Violations = append(p.Violations, v)
	}
	return nil, p
}
