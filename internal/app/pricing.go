package app

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/suggestion"
)

// PriceAs are the prices that the calls of a script are counted at, as if the model had answered. They
// are those of the day the session began.
type PriceAs struct {
	Model  string      `json:"model"`
	Tariff echo.Tariff `json:"tariff"`
}

// PriceAsError says that a run cannot be counted at the prices of a model.
type PriceAsError struct {
	Model  string
	Online bool   // models answer, and have prices of their own
	Known  bool   // the model is known, and its price is not
	Near   string // a model that was perhaps meant
}

func (e *PriceAsError) Error() string {
	switch {
	case e.Online:
		return fmt.Sprintf("price as %q: only a run that a script answers can be counted at the prices of a model", e.Model)
	case e.Known:
		return fmt.Sprintf("price as %q: the price of the model is not known", e.Model)
	case e.Near != "":
		return fmt.Sprintf("price as %q: there is no such model, did you mean %q?", e.Model, e.Near)
	}
	return fmt.Sprintf("price as %q: no such model is known", e.Model)
}

// choosePrices finds the prices of the model of PriceAs. Those of a session that is resumed stay.
func (o *opening) choosePrices() error {
	model, s := o.options.PriceAs, &o.run.started
	if model == "" || s.PriceAs != nil {
		return nil
	}
	wrong := &PriceAsError{Model: model}
	if wrong.Online = !o.options.Offline || o.options.Extensions.Model != nil; wrong.Online {
		return failure.New(failure.InvalidRequest, wrong, "")
	}
	tariff := llm.NewRouter(o.config, func(string) string { return "" }).Facts(model).Tariff
	if tariff == nil {
		wrong.Known, wrong.Near = knownModel(o.config, model)
		return failure.New(failure.InvalidRequest, wrong, "")
	}
	s.PriceAs = &PriceAs{Model: model, Tariff: *tariff}
	return nil
}

// knownModel reports whether a model is known, else which one with a price has a name like it.
func knownModel(cfg *config.Config, model string) (known bool, near string) {
	if _, known = cfg.Lookup(model); known {
		return true, ""
	}
	if _, known = llm.LookupCard(model); known {
		return true, ""
	}
	names := slices.Collect(maps.Keys(cfg.Models))
	for _, c := range llm.Cards() {
		if c.Price != nil {
			names = append(append(names, c.Model), c.Aliases...)
		}
	}
	slices.Sort(names)
	return false, suggestion.For(model, names)
}

// facts returns what is known of models that a script plays, at these prices; nil changes nothing.
func (p *PriceAs) facts(of func(string) effect.ModelFacts) func(string) effect.ModelFacts {
	if p == nil {
		return of
	}
	return func(model string) effect.ModelFacts {
		f, tariff := of(model), p.Tariff
		f.Tariff, f.Price = &tariff, &echo.Price{Input: tariff.Input, Cached: tariff.Cached, As: p.Model}
		return f
	}
}

// pretending is a script whose answers have a price.
type pretending struct {
	effect.Model
	prices PriceAs
}

// Complete implements [effect.Model].
func (p pretending) Complete(ctx context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	resp, err := p.Model.Complete(ctx, req)
	if err == nil {
		resp.Pretend = &echo.Pretend{Model: p.prices.Model, USD: p.prices.Tariff.Cost(resp.Usage)}
	}
	return resp, err
}
