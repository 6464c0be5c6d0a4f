package script

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/config/strict"
	"github.com/windlass-run/windlass/internal/source"
)

// judge is a scripted judge of candidates. It looks at what the answers say, as a judge does that has no
// bias: their order and their labels change nothing.
type judge struct {
	prefer []string // the answer that has the first of them is named; several have it, or none has any: a tie
	points []points // an answer gets those of the first text that it has; 0 for none
	why    string
}

type points struct {
	text  string
	score float64
}

// mostPoints is what a judge can give.
const mostPoints = 10

// judging reads {"prefer": [...], "points": {...}, "why": "..."}, or a turn whose text is the reply.
func (p parser) judging(n *source.Node) *part {
	if n.Get("prefer") == nil && n.Get("points") == nil {
		return p.summary(n)
	}
	j := &judge{}
	p.Object(n, "a judge", strict.Fields{
		"prefer":  func(n *source.Node) { j.prefer = p.Strings(n, "prefer") },
		"why":     func(n *source.Node) { j.why = p.String(n, "why") },
		"comment": func(n *source.Node) { p.String(n, "comment") },
		"points": func(n *source.Node) {
			p.Each(n, "points", func(text string, v *source.Node) {
				score := p.Number(v, "points of an answer", 0)
				if score > mostPoints {
					p.Fail(v, "", "an answer gets at most %d points", mostPoints)
				}
				j.points = append(j.points, points{text, score})
			})
		},
	})
	return &part{attempts: [][]*turn{{{judge: j, repeat: true}}}, repeat: true}
}

// shown is an answer that a judge is shown.
type shown struct{ label, text string }

// reply is what the judge says of answers: of one of them how many points it gets, of several which is preferred.
func (j *judge) reply(answers []shown) string {
	said := map[string]any{"why": j.why}
	if len(answers) == 1 {
		said["score"] = j.score(answers[0].text)
	} else {
		said["winner"] = j.winner(answers)
	}
	b, err := json.Marshal(said)
	if err != nil { // texts and numbers
		return ""
	}
	return string(b)
}

func (j *judge) score(text string) float64 {
	for _, p := range j.points {
		if strings.Contains(text, p.text) {
			return p.score
		}
	}
	return 0
}

func (j *judge) winner(answers []shown) string {
	for _, wanted := range j.prefer {
		var have []shown
		for _, a := range answers {
			if strings.Contains(a.text, wanted) {
				have = append(have, a)
			}
		}
		switch len(have) {
		case 0:
		case 1:
			return have[0].label
		default:
			return "tie"
		}
	}
	return "tie"
}

// marked matches what stands between marks in the request of a judge or an aggregator: the task, and each answer
// under its label.
var marked = regexp.MustCompile(`(?m)^<<<([0-9a-f]{16}) (.+)$`)

// shownAnswers returns the answers that the last message shows, in their order, each once.
func shownAnswers(msgs []*echo.Message) []shown {
	text := msgs[len(msgs)-1].Text()
	var out []shown
	seen := map[string]bool{"task": true}
	for _, at := range marked.FindAllStringSubmatchIndex(text, -1) {
		mark, label := text[at[2]:at[3]], text[at[4]:at[5]]
		answer, _, closed := strings.Cut(text[at[1]:], "\n"+mark+" "+label+">>>")
		if closed && !seen[label] {
			seen[label] = true
			out = append(out, shown{strings.TrimPrefix(label, "answer "), strings.TrimPrefix(answer, "\n")})
		}
	}
	return out
}

func candidates(msgs []*echo.Message) []any {
	out := []any{}
	for _, s := range shownAnswers(msgs) {
		out = append(out, map[string]any{"label": s.label, "text": s.text})
	}
	return out
}
