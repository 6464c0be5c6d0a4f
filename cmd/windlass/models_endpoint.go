package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/models"
)

// showEndpoint lists the models of an endpoint that have a text in their name.
func showEndpoint(ctx context.Context, con *console, cfg *config.Config, of, text string) error {
	if of == "" {
		return exit.UsageError(errors.New("--endpoint needs the name of a model or a URL"), "windlass models --endpoint https://host/v1")
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
	list := []models.Offered{}
	for _, id := range ids {
		if strings.Contains(strings.ToLower(id), strings.ToLower(text)) {
			list = append(list, models.OfEndpoint(cfg, id))
		}
	}
	return con.print(list, func() error {
		if len(list) == 0 {
			_, err := fmt.Fprintln(con.out, "The endpoint lists no such model.")
			return err
		}
		t := term.NewTable("model", "known as", ">window", ">in", ">cached", ">write", ">out")
		for i := range list {
			t.Add(list[i].Cells()...)
		}
		return con.table(t)
	})
}
