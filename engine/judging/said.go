package judging

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/modeltext"
	"github.com/windlass-run/windlass/internal/excerpt"
)

// tie is what a judge says when no answer is better. No label has a vowel.
const tie = "tie"

// The most bytes of what a judge wrote that a ballot has: the reason, and what is quoted of no verdict. All of it is
// in the model call.
const (
	mostWhy    = 2000
	mostQuoted = 60
)

// readVote reads which of several labels a judge named, into a ballot. Anything else than a label as it was given, or
// "tie", is a problem, and so are two verdicts that differ.
func readVote(resp *effect.ModelResponse, b *echo.Ballot) {
	raw, ok := readReply(resp, "winner", b)
	if !ok {
		return
	}
	var said string
	if json.Unmarshal(raw, &said) != nil || string(raw) == "null" {
		b.Problem = fmt.Sprintf(`"winner" is %s, which is no label`, excerpt.Line(string(raw), mostQuoted))
		return
	}
	said = strings.TrimSpace(said)
	if strings.EqualFold(said, tie) {
		b.Said = tie
		return
	}
	at := slices.Index(b.Labels, said)
	if at < 0 {
		b.Problem = fmt.Sprintf(`"winner" is %q, which is no label`, excerpt.Line(said, mostQuoted))
		return
	}
	b.Said, b.Winner = said, new(b.Order[at])
}

// mostPoints is what the best answer gets.
const mostPoints = 10

// readScore reads how many points a judge gave, into a ballot.
func readScore(resp *effect.ModelResponse, b *echo.Ballot) {
	raw, ok := readReply(resp, "score", b)
	if !ok {
		return
	}
	text := strings.TrimSpace(strings.Trim(strings.TrimSpace(string(raw)), `"`)) // some put numbers in quotes
	points, err := strconv.ParseFloat(text, 64)
	if err != nil || !json.Valid([]byte(text)) || points < 0 || points > mostPoints {
		b.Problem = fmt.Sprintf(`"score" is %s, which is no number from 0 to %d`, excerpt.Line(string(raw), mostQuoted), mostPoints)
		return
	}
	b.Score = &points
}

// readReply reads one member of the object with which a judge replies, and its reason; false when there is a problem.
func readReply(resp *effect.ModelResponse, member string, b *echo.Ballot) (raw json.RawMessage, ok bool) {
	text := resp.Message.Text()
	if strings.TrimSpace(text) == "" {
		b.Problem = core.EmptyAnswer(resp)
		return nil, false
	}
	for object, members := range modeltext.ObjectTexts(text, member) {
		for _, said := range modeltext.Values(object, member) {
			if raw == nil {
				raw, b.Why = said, reason(members["why"])
			}
			if string(raw) != string(said) {
				b.Problem = fmt.Sprintf("the reply has two verdicts: %s and %s",
					excerpt.Line(string(raw), mostQuoted), excerpt.Line(string(said), mostQuoted))
				b.Why = ""
				return nil, false
			}
		}
	}
	if raw == nil {
		b.Problem = fmt.Sprintf("the reply has no JSON object with %q: %s", member, excerpt.Line(text, mostQuoted))
	}
	return raw, raw != nil
}

func reason(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	value, err := modeltext.Decode(raw)
	if err != nil || value == nil {
		return ""
	}
	return excerpt.Clip(strings.TrimSpace(echo.AsText(value)), mostWhy)
}
