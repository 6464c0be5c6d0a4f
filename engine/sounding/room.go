package sounding

import (
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/budget"
	"github.com/windlass-run/windlass/engine/effect"
)

// roomFor says whether what is left covers another candidate and its judging. What nobody knows the cost
// of is covered by no limit of money.
func roomFor(left budget.Left, list []*Candidate, judged effect.Totals) echo.Room {
	room := echo.Room{Covers: true}
	var usd float64
	var tokens int64
	known := judged.UnknownCosts == 0
	for _, c := range list {
		usd = max(usd, c.Taken.CostUSD)
		tokens = max(tokens, c.Taken.Usage.In+c.Taken.Usage.Out)
		known = known && c.Taken.UnknownCosts == 0
	}
	if left.USD != nil {
		room.NeededUSD, room.LeftUSD = record.RoundUSD(usd+judged.CostUSD), record.RoundUSD(max(*left.USD, 0))
		room.Covers = known && room.NeededUSD <= room.LeftUSD
	}
	if left.Tokens != nil {
		room.Covers = room.Covers && tokens+judged.Usage.In+judged.Usage.Out <= *left.Tokens
	}
	return room
}

// minus returns what was taken after a sum.
func minus(now, before effect.Totals) effect.Totals {
	return effect.Totals{
		CostUSD: now.CostUSD - before.CostUSD, UnknownCosts: now.UnknownCosts - before.UnknownCosts,
		Usage: echo.Usage{In: now.Usage.In - before.Usage.In, Out: now.Usage.Out - before.Usage.Out},
	}
}
