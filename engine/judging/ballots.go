package judging

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/election"
)

// hold holds pairs of ballots at the same time, and adds and records them in order.
func (j *judge) hold(ctx context.Context, e *election.Election, pairs []int) error {
	var sheets []sheet
	for _, pair := range pairs {
		first, second := e.Orders(pair)
		number := 2*(j.held+pair) - 1
		sheets = append(sheets, j.sheet(echo.StepBallot, number, first), j.sheet(echo.StepBallot, number+1, second))
	}
	replies, err := j.ask(ctx, sheets)
	if err != nil {
		return err
	}
	for i, pair := range pairs {
		if err := j.addPair(e, pair, sheets[2*i:2*i+2], replies[2*i:2*i+2]); err != nil {
			return err
		}
	}
	return nil
}

// addPair counts and records a pair.
func (j *judge) addPair(e *election.Election, pair int, sheets []sheet, replies []*effect.ModelResponse) error {
	var ballots [2]echo.Ballot
	var said [2]election.Said
	for i, resp := range replies {
		ballots[i] = j.ballot(&sheets[i], resp)
		ballots[i].Pair, ballots[i].Reverse = j.held+pair, i == 1
		readVote(resp, &ballots[i])
		if err := j.follow(&sheets[i], &ballots[i]); err != nil {
			return err
		}
		if j.ballots++; ballots[i].Problem != "" {
			j.silent, j.problem = j.silent+1, ballots[i].Problem
		}
		if w := ballots[i].Winner; w != nil {
			said[i] = election.Names(*w)
		}
	}
	last := &ballots[1]
	if vote, ok := e.Add(pair, said[0], said[1]); ok {
		last.Vote = &vote
	}
	for _, number := range last.Order {
		last.EValues = append(last.EValues, e.EValue(number))
	}
	last.Evidence = &echo.Evidence{EValue: e.Decision().EValue, Needed: j.q.needed()}
	for i := range ballots {
		if err := j.bench.Place().Rec.Add(sheets[i].key, ballots[i]); err != nil {
			return err
		}
	}
	return nil
}

// ballot returns what is known of a ballot before its verdict is read, and counts its cost.
func (j *judge) ballot(s *sheet, resp *effect.ModelResponse) echo.Ballot {
	j.took.add(resp.CostUSD)
	return echo.Ballot{Step: j.q.Step, Judge: j.model, Order: s.order, Labels: s.labels, CostUSD: resp.CostUSD}
}

// follow gives a ballot the verdict that is recorded, where an answer or the reply was redacted since.
func (j *judge) follow(s *sheet, b *echo.Ballot) (err error) {
	*b, err = core.Followed(j.bench.Place().Rec, s.key, *b)
	b.Vote, b.EValues = nil, nil // they follow from the verdicts
	return err
}

// ask has the judge look at all sheets at the same time, and returns its replies.
func (j *judge) ask(ctx context.Context, sheets []sheet) ([]*effect.ModelResponse, error) {
	keys := make([]echo.Key, len(sheets))
	requests := make([]*effect.ModelRequest, len(sheets))
	for i := range sheets {
		keys[i] = sheets[i].key
		messages, err := j.messages(&sheets[i])
		if err != nil {
			return nil, err
		}
		requests[i] = &effect.ModelRequest{
			Model: j.model, Messages: messages, MaxOutputTokens: j.room, AnswerLength: min(replyLength, j.room),
			CacheMarks: j.cacheMarks(sheets, messages),
		}
	}
	replies := make([]*effect.ModelResponse, len(sheets))
	lead := j.lead(sheets)
	err := j.bench.Each(ctx, keys, func(ctx context.Context, i int, calls *core.Calls) error {
		req := requests[i]
		req.Site = calls.Site
		req.Site.Purpose = echo.PurposeJudge
		key := keys[i].Step(echo.StepModel)
		if err := calls.Begin(ctx, key, req); err != nil {
			return err
		}
		leave, err := lead.enter(ctx, calls, key, req)
		if err != nil {
			return err
		}
		defer leave()
		resp, err := calls.Ask(ctx, key, req)
		if err != nil {
			return sheets[i].failed(err)
		}
		replies[i] = resp
		return nil
	})
	return replies, err
}

// failed says which judgement failed; it keeps an error that is not the model's as it is.
func (s *sheet) failed(err error) error {
	var of *effect.ModelError
	if !errors.As(err, &of) {
		return err
	}
	return fmt.Errorf("judge the candidates (%s): %w", s.name, err)
}
