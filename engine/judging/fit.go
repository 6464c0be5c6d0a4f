package judging

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/budget"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/quantity"
)

// smallestShare is how many tokens of each answer a judge must at least have room for.
const smallestShare = 64

// fitter finds how much of texts fits a request. It does not know what the request is.
type fitter struct {
	who   string // is sent the request
	facts *effect.ModelFacts
	limit int64 // tokens of a request; 0: not known
}

// newFitter leaves room for the reply, and a part of the window for what counts do not know: a tenth where they
// are estimates.
func newFitter(who string, f *effect.ModelFacts, reply int) fitter {
	if f.Window == 0 {
		return fitter{who: who, facts: f}
	}
	spare := f.Window / 10
	if f.Exact {
		spare = f.Window / 50
	}
	return fitter{who, f, max(f.Window-int64(reply)-spare, 1)}
}

func (f fitter) size(messages []*echo.Message) int64 {
	return budget.SizeOf(&effect.ModelRequest{Messages: messages}, *f.facts).In
}

func (f fitter) tokens(text string) int64 {
	return f.size([]*echo.Message{echo.NewText(echo.RoleUser, echo.KindTask, text)})
}

// sized returns how many tokens the largest of some requests has.
type sized func() (int64, error)

// fit cuts texts until requests with them fit: all texts to the same number of tokens, as many as there is room for
// at the same time in a request. A task that alone would take more than a quarter of what fits is cut first. It
// returns what was cut, in words; "": nothing was.
func (f fitter) fit(task *string, texts []*string, together int, largest sized) (cut string, err error) {
	size, err := largest()
	if err != nil || f.limit == 0 || size <= f.limit {
		return "", err
	}
	before := *task
	*task = f.cut(before, f.limit/4)
	if size, err = largest(); err != nil || size <= f.limit {
		return what(*task != before, 0, 0), err
	}
	whole := make([]string, len(texts))
	tokens := make([]int64, len(texts))
	for i, t := range texts {
		whole[i], tokens[i] = *t, f.tokens(*t)
	}
	share := f.share(size, tokens, together)
	for share >= smallestShare {
		n := 0
		for i, t := range texts {
			if *t = f.cut(whole[i], share); *t != whole[i] {
				n++
			}
		}
		if size, err = largest(); err != nil || size <= f.limit {
			return what(*task != before, n, share), err
		}
		share = share * 9 / 10
	}
	return "", fmt.Errorf("%s can be sent %d tokens, and these do not have room for %d tokens of %s, the task and the instructions: "+
		"use a model with a larger window, or fewer candidates", f.who, f.limit, smallestShare, each(together))
}

func each(n int) string {
	if n == 1 {
		return "an answer"
	}
	return fmt.Sprintf("each of %d answers", n)
}

// share returns the greatest number of tokens to which texts can be cut so that the largest request fits, as far as
// can be said before one is made.
func (f fitter) share(size int64, tokens []int64, together int) int64 {
	tokens = slices.Sorted(slices.Values(tokens))[len(tokens)-together:] // the largest ones
	room := f.limit - size
	for _, n := range tokens {
		room += n
	}
	for i, n := range tokens {
		if left := int64(len(tokens) - i); n*left > room {
			return room / left
		}
		room -= n
	}
	return tokens[len(tokens)-1]
}

// what says what was cut.
func what(task bool, answers int, share int64) string {
	var parts []string
	if answers > 0 {
		parts = append(parts, fmt.Sprintf("%s to %d tokens", quantity.Of(answers, "answer"), share))
	}
	if task {
		parts = append(parts, "the task")
	}
	return strings.Join(parts, ", and ")
}

// cut takes out of the middle of a text what is more than some tokens, and says so in its place.
func (f fitter) cut(text string, most int64) string {
	tokens := f.tokens(text)
	if tokens <= most {
		return text
	}
	for keep := int64(len(text)); ; {
		keep = min(keep*most/max(tokens, 1), keep-keep/32-1)
		if keep <= 0 {
			return leftOut(len(text))
		}
		head, tail := ends(text, int(keep))
		short := head + leftOut(len(text)-len(head)-len(tail)) + tail
		if tokens = f.tokens(short); tokens <= most {
			return short
		}
	}
}

func leftOut(bytes int) string {
	return fmt.Sprintf("\n[... %d bytes left out here, as the text is too long ...]\n", bytes)
}

// ends returns the beginning and the end of a text, together at most so many bytes, in whole characters.
func ends(text string, keep int) (head, tail string) {
	to := keep / 2
	for to > 0 && !utf8.RuneStart(text[to]) {
		to--
	}
	from := len(text) - (keep - keep/2)
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	return text[:to], text[from:]
}

// fit cuts the task and the answers to what the judge can be shown, and records a warning. Requests have the answers
// of each group.
func (j *judge) fit(groups [][]int) error {
	texts := make([]*string, len(j.shown))
	for i := range j.shown {
		texts[i] = &j.shown[i].text
	}
	f := newFitter("the judge "+j.model, &j.facts, j.room)
	cut, err := f.fit(&j.task, texts, len(groups[0]), j.largest(f, groups))
	if err != nil {
		return err
	}
	return f.warn(j.bench, j.q.Key.Step(echo.StepChoice), cut)
}

// largest makes requests, and returns the size of the largest.
func (j *judge) largest(f fitter, groups [][]int) sized {
	return func() (most int64, err error) {
		for _, numbers := range groups {
			s := j.sheet(echo.StepBallot, 1, numbers)
			messages, err := j.messages(&s)
			if err != nil {
				return 0, err
			}
			most = max(most, f.size(messages))
		}
		return most, nil
	}
}

// warn records what was cut.
func (f fitter) warn(b Bench, key echo.Key, cut string) error {
	message := ""
	if cut != "" {
		message = fmt.Sprintf("what %s was sent is cut in the middle, as it does not fit its window: %s", f.who, cut)
	}
	return b.Place().Rec.Remark(key, message)
}
