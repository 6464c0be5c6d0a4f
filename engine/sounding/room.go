package sounding

import (
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/budget"
	"github.com/windlass-run/windlass/engine/effect"
)

// ballotsOfPair is how many ballots are a pair.
const ballotsOfPair = 2

// round is what a round of an adaptive phase has taken, from which the next one is estimated.
type round struct {
	list   []*Candidate
	judged effect.Totals // the judging of the round
	most   effect.Totals // the largest that a call was expected to take: a budget has to cover that before it is sent
	pairs  int           // that a round has at most
}

// next estimates what another candidate and its judging take until the last of their calls has left: the candidate as
// much as the dearest one, the judging as many ballots as it may have, each longer by an answer.
func (r *round) next() effect.Totals {
	var dearest effect.Totals
	for _, c := range r.list {
		dearest.CostUSD = max(dearest.CostUSD, c.Taken.CostUSD+c.Taken.PretendUSD)
		dearest.Usage.In = max(dearest.Usage.In, c.Taken.Usage.In+c.Taken.Usage.Out)
		dearest.UnknownCosts += c.Taken.UnknownCosts
	}
	n := float64(len(r.list))
	longer := (n + 1) / n
	ballots := float64(ballotsOfPair * r.pairs)
	return dearest.Plus(times(r.judged, longer*ballots/float64(max(r.judged.Calls, 1)))).Plus(times(r.most, longer))
}

// times returns a sum so many times, with all its tokens as those that were sent, and pretended costs as paid: limits
// count them so.
func times(t effect.Totals, factor float64) effect.Totals {
	return effect.Totals{
		CostUSD: (t.CostUSD + t.PretendUSD) * factor, UnknownCosts: t.UnknownCosts,
		Usage: echo.Usage{In: int64(float64(t.Usage.In+t.Usage.Out) * factor)},
	}
}

// roomFor says whether what is left covers a sum. What nobody knows the cost of is covered by no limit of money.
func roomFor(left budget.Left, next effect.Totals) echo.Room {
	room := echo.Room{Covers: true}
	if left.USD != nil {
		room.NeededUSD, room.LeftUSD = record.RoundUSD(next.CostUSD), record.RoundUSD(max(*left.USD, 0))
		room.Unknown = next.UnknownCosts > 0
		room.Covers = !room.Unknown && room.NeededUSD <= room.LeftUSD
	}
	if left.Tokens != nil {
		room.NeededTokens, room.LeftTokens = next.Usage.In, max(*left.Tokens, 0)
		room.Covers = room.Covers && room.NeededTokens <= room.LeftTokens
	}
	return room
}

// minus returns what was taken after a sum.
func minus(now, before effect.Totals) effect.Totals {
	return effect.Totals{
		Calls: now.Calls - before.Calls, UnknownCosts: now.UnknownCosts - before.UnknownCosts,
		CostUSD: now.CostUSD - before.CostUSD, PretendUSD: now.PretendUSD - before.PretendUSD,
		Usage: echo.Usage{In: now.Usage.In - before.Usage.In, Out: now.Usage.Out - before.Usage.Out},
	}
}
