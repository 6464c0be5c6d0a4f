package record

import "github.com/windlass-run/windlass/echo"

// Between sums up what came into phases of earlier ones. That is sent with every call of a visit,
// so tokens and money are those of all calls that were answered. Money is an estimate: the first
// call of a visit is sent it in full, later ones read it from the cache. Calls that a fork has
// copied are in none of it.
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
	var origin echo.Origin
	newest := map[echo.Key]*echo.InterSelection{}
	prices, answers, asked := map[echo.Key]*echo.Price{}, map[echo.Key]*echo.Entry{}, map[echo.Key][]echo.Key{}
	for _, e := range entries {
		switch e.NodeType { //nolint:exhaustive // the others say nothing of it
		case echo.NodeRunStart:
			origin = echo.OriginOf(e)
		case echo.NodePhaseStart:
			if start, err := echo.Read[echo.PhaseStart](e); err == nil && start.Context != nil {
				prices[e.Key.VisitKey()] = start.Context.Price
			}
		case echo.NodeSelection:
			asked[Conversation(e.Key)] = append(asked[Conversation(e.Key)], e.Key.ModelKey())
		case echo.NodeModelCall:
			answers[e.Key] = e
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
		own, copied := 0, 0
		for _, call := range callsOf(Conversation(key), asked) {
			switch answer := answers[call]; {
			case answer == nil || answer.Error != nil:
			case origin.Has(answer):
				copied++
			default:
				own++
			}
		}
		sum.add(newest[key], own, copied, prices[key.VisitKey()])
	}
	if sum.Selections == 0 {
		sum.SavedUSD = new(float64) // the sum of none is known
	}
	return sum
}

// add takes a selection that was sent with so many calls, after those that are copied.
func (b *Between) add(s *echo.InterSelection, calls, copied int, price *echo.Price) {
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
	perToken := float64(calls) * price.Cached
	if copied == 0 {
		perToken += price.Input - price.Cached
	}
	*b.SavedUSD += float64(s.Everything-s.Sent()) * perToken / 1e6
}

// callsOf returns the calls of a conversation, or else of those of the parts of a visit, which share
// what came into the visit.
func callsOf(conversation echo.Key, asked map[echo.Key][]echo.Key) []echo.Key {
	if own := asked[conversation]; own != nil {
		return own
	}
	var calls []echo.Key
	for of, those := range asked {
		if of.Under(conversation) {
			calls = append(calls, those...)
		}
	}
	return calls
}
