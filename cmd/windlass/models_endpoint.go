package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/term"
)

// offeredModel is a model that an endpoint lists.
type offeredModel struct {
	ID    string      `json:"id"`
	Known *shownModel `json:"known,omitempty"` // what a run would take for it; nil: nothing is known
}

// showEndpoint lists the models of an endpoint that have a text in their name.
func (con *console) showEndpoint(ctx context.Context, cfg *config.Config, of, text string) error {
	if of == "" {
		return usageError(errors.New("--endpoint needs the name of a model or a URL"), "windlass models --endpoint https://host/v1")
	}
	router := llm.NewRouter(cfg, environment.Getenv)
	defer router.Close()
	ids, err := router.List(ctx, of)
	if err != nil {
		var le *llm.ListError
		if errors.As(err, &le) {
			return failure.New(failure.ModelUnavailable, err, le.Err.Hint)
		}
		return err
	}
	list := []offeredModel{}
	for _, id := range ids {
		if strings.Contains(strings.ToLower(id), strings.ToLower(text)) {
			list = append(list, offered(cfg, id))
		}
	}
	return con.print(list, func() error {
		if len(list) == 0 {
			_, err := fmt.Fprintln(con.out, "The endpoint lists no such model.")
			return err
		}
		t := term.NewTable("model", "known as", ">window", ">in", ">cached", ">write", ">out")
		for i := range list {
			t.Add(list[i].cells()...)
		}
		return con.table(t)
	})
}

// offered is a model of an endpoint with what is known of it.
func offered(cfg *config.Config, id string) offeredModel {
	o := offeredModel{ID: id}
	if _, ok := cfg.Models[id]; ok {
		m := configured(cfg, id)
		o.Known = &m
	} else if c, ok := llm.LookupCard(id); ok {
		m := ofCard(&c, c.Model)
		o.Known = &m
	}
	return o
}

func (o *offeredModel) cells() []string {
	if o.Known == nil {
		return []string{o.ID, "-", "-", "-", "-", "-", "-"}
	}
	m := o.Known
	return append([]string{o.ID, cmp.Or(m.Name, "-"), m.windowText()}, m.Price.cells()...)
}
