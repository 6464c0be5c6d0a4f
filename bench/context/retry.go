package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/simulate"
)

// attempt is a line of a retry file: a text that was rewritten, what came out, and what was said of it.
type attempt struct {
	Record   int    `json:"record_id"`
	Number   int    `json:"attempt"` // rising, with gaps where an attempt was not recorded
	Review   string `json:"review"`
	Answer   string `json:"transferred_review"`
	Feedback string `json:"feedback"`
}

// replayRetries replays the records of each file as the attempts of a phase with loop_until. The compression of failed
// attempts must never make a request longer than full history would be.
func replayRetries(ctx context.Context, data string) ([]bar, error) {
	paths, err := filepath.Glob(filepath.Join(data, "retry", "*.jsonl"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s has no retry/*.jsonl", data)
	}
	var bars []bar
	for _, path := range paths {
		b, err := replayRetryFile(ctx, path)
		if err != nil {
			return nil, err
		}
		bars = append(bars, b)
	}
	return bars, nil
}

func replayRetryFile(ctx context.Context, path string) (bar, error) {
	all, err := readRetries(path)
	if err != nil {
		return bar{}, err
	}
	policy, _ := simulate.NamedPolicy(simulate.PolicyDefault)
	sim := &simulate.Simulation{Policies: []simulate.Policy{policy}, Prices: prices}
	longer, requests, invalid := 0, 0, 0
	var sent, full int64
	err = sim.Run(ctx, all, func(o *simulate.Outcome) error {
		for i, run := range o.Runs {
			for k, call := range run.Calls {
				requests++
				sent += call.Tokens
				full += o.Full[i].Calls[k].Tokens
				if call.Tokens > o.Full[i].Calls[k].Tokens {
					longer++
				}
				if call.Invalid != "" {
					invalid++
				}
			}
		}
		return nil
	})
	return bar{
		name:   fmt.Sprintf("retry/%s: no request longer than full history, none invalid", filepath.Base(path)),
		found:  fmt.Sprintf("%d longer and %d invalid of %d; %.1f %% fewer tokens", longer, invalid, requests, 100-100*float64(sent)/float64(full)),
		passed: longer == 0 && invalid == 0 && requests > 0,
	}, err
}

// readRetries makes a conversation of the attempts at each record, as the engine would have written it.
func readRetries(path string) ([]*simulate.Conversation, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	var all []*simulate.Conversation
	dec := json.NewDecoder(bufio.NewReader(f))
	var last attempt
	for line := 1; ; line++ {
		var a attempt
		err := dec.Decode(&a)
		switch {
		case errors.Is(err, io.EOF) && len(all) == 0:
			return nil, fmt.Errorf("%s: %w", path, errNoRecords)
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("%s:%d: %w", path, line, err)
		case len(all) == 0 || a.Record != last.Record:
			all = append(all, begin(path, line, a))
		case a.Number <= last.Number:
			return nil, fmt.Errorf("%s:%d: attempt %d of record %d comes after attempt %d", path, line, a.Number, a.Record, last.Number)
		default:
			again(all[len(all)-1], a, last.Feedback)
		}
		last = a
	}
}

func begin(path string, line int, a attempt) *simulate.Conversation {
	c := &simulate.Conversation{File: filepath.Base(path), Number: line}
	c.Items = []echo.Item{
		{Message: echo.NewText(echo.RoleUser, echo.KindTask, "Rewrite this review so that it says the opposite:\n\n"+a.Review)},
		{Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, a.Answer), Attempt: 1, Turn: 1},
	}
	return c
}

func again(c *simulate.Conversation, a attempt, feedback string) {
	text := "Your answer was not accepted: " + feedback + "\n\nCorrect this and give the complete answer again."
	number := c.Items[len(c.Items)-1].Attempt + 1
	c.Items = append(c.Items,
		echo.Item{Message: echo.NewText(echo.RoleUser, echo.KindRetry, text), Attempt: number},
		echo.Item{Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, a.Answer), Attempt: number, Turn: 1})
}
