package record

import "github.com/windlass-run/windlass/echo"

// Between sums up what came into phases of earlier ones. That is sent with every call of a visit,
// so tokens and money are those of all calls that were answered. Money is an estimate: the first
// call of a visit is sent it in full, later ones read it from the cache.
type Between struct {
	Selections  int      `json:"selections"` // in visits with a call that was answered
	Calls       int      `json:"calls"`      // of these visits, answered
	FullTokens  int64    `json:"full_tokens"`
	SentTokens  int64    `json:"sent_tokens"`
	SavedTokens int64    `json:"saved_tokens"`
	SavedUSD    *float64 `json:"saved_usd"`           // null: no price is known
	Unpriced    int      `json:"unpriced_selections"` // left out of SavedUSD
}

// BetweenPhases sums up the selections of a session. Of a visit the newest counts.
func BetweenPhases(entries []*echo.Entry) Between {
	var keys []echo.Key
	newest := map[echo.Key]*echo.InterSelection{}
	prices, failed, asked := map[echo.Key]*echo.Price{}, map[echo.Key]bool{}, map[echo.Key][]echo.Key{}
	for _, e := range entries {
		switch e.NodeType { //nolint:exhaustive // the others say nothing of it
		case echo.NodePhaseStart:
			if start, err := echo.Read[echo.PhaseStart](e); err == nil && start.Context != nil {
				prices[e.Key.VisitKey()] = start.Context.Price
			}
		case echo.NodeSelection:
			asked[Conversation(e.Key)] = append(asked[Conversation(e.Key)], e.Key.ModelKey())
		case echo.NodeModelCall:
			failed[e.Key] = e.Error != nil
		case echo.NodeInter:
			if s, err := echo.Read[echo.InterSelection](e); err == nil {
				if newest[e.Key] == nil {
					keys = append(keys, e.Key)
				}
				newest[e.Key] = &s
			}
		}
	}
	var sum Between
	for _, key := range keys {
		calls := 0
		for _, call := range asked[Conversation(key)] {
			if bad, came := failed[call]; came && !bad {
				calls++
			}
		}
		sum.add(newest[key], calls, prices[key.VisitKey()])
	}
	return sum
}

func (b *Between) add(s *echo.InterSelection, calls int, price *echo.Price) {
	if calls == 0 {
		return
	}
	full, sent := s.Everything*int64(calls), s.Sent()*int64(calls)
	b.Selections++
	b.Calls += calls
	b.FullTokens += full
	b.SentTokens += sent
	b.SavedTokens += full - sent
	if price == nil {
		b.Unpriced++
		return
	}
	if b.SavedUSD == nil {
		b.SavedUSD = new(float64)
	}
	*b.SavedUSD += float64(s.Everything-s.Sent()) * (price.Input + float64(calls-1)*price.Cached) / 1e6
}
