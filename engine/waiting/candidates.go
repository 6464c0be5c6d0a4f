package waiting

import (
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
)

// What a person says who picks none of the candidates.
const (
	Tie  = "tie"  // they are equally good
	None = "none" // none is good enough
)

// checkChoice returns a choice among candidates as it is recorded, with what the mode asks for and the reason.
func checkChoice(c *echo.Choose, value any) (any, error) {
	if s, ok := value.(string); ok {
		value = map[string]any{chooseMember(c.Mode): s}
	}
	m, ok := value.(map[string]any)
	if !ok {
		return nil, &FormError{Why: "the answer is " + chooseForm(c)}
	}
	member := chooseMember(c.Mode)
	out := map[string]any{}
	for name, v := range m {
		var err error
		switch name {
		case member:
			out[name], err = checkChosen(c, v)
		case "why":
			out[name], err = written(v)
		default:
			err = &FormError{Why: fmt.Sprintf("the answer has no %q: it is %s", name, chooseForm(c))}
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case out[member] == nil:
		return nil, &FormError{Why: "the answer is " + chooseForm(c)}
	case c.Reason && out["why"] == nil:
		return nil, &FormError{Why: `the answer needs a reason, "why"`}
	}
	return out, nil
}

// Because returns a choice as a person types it, with a reason.
func Because(c *echo.Choose, typed, why string) any {
	return map[string]any{chooseMember(c.Mode): typed, "why": why}
}

func chooseMember(mode echo.ChooseMode) string {
	switch mode {
	case echo.ChooseRank:
		return "ranking"
	case echo.ChooseRate:
		return "ratings"
	case echo.ChooseOne:
	}
	return "winner"
}

func chooseForm(c *echo.Choose) string {
	why := ""
	if c.Reason {
		why = `, "why": "..."`
	}
	labels := strings.Join(Labels(c), ", ")
	switch c.Mode {
	case echo.ChooseRank:
		return fmt.Sprintf(`{"ranking": [...]%s} with each of %s once, the best first`, why, labels)
	case echo.ChooseRate:
		return fmt.Sprintf(`{"ratings": {...}%s} with 1 to %d for each of %s`, why, DefaultMost, labels)
	case echo.ChooseOne:
	}
	return fmt.Sprintf(`{"winner": "..."%s} with one of %s`, why, strings.Join(Winners(c), ", "))
}

// Labels returns the labels of the candidates.
func Labels(c *echo.Choose) []string {
	out := make([]string, len(c.Candidates))
	for i, x := range c.Candidates {
		out[i] = x.Label
	}
	return out
}

// Winners returns what can be picked of candidates: their labels, and what else the choice allows.
func Winners(c *echo.Choose) []string {
	out := Labels(c)
	if c.Tie {
		out = append(out, Tie)
	}
	if c.Reject {
		out = append(out, None)
	}
	return out
}

// typed returns a choice as a person types it: "B,A,C" for an order, "A=4,B=2" for ratings, else the label.
func typed(mode echo.ChooseMode, text string) any {
	switch mode {
	case echo.ChooseRank:
		var list []any
		for s := range strings.SplitSeq(text, ",") {
			list = append(list, strings.ToUpper(strings.TrimSpace(s)))
		}
		return list
	case echo.ChooseRate:
		ratings := map[string]any{}
		for s := range strings.SplitSeq(text, ",") {
			label, rating, _ := strings.Cut(s, "=")
			ratings[strings.ToUpper(strings.TrimSpace(label))] = strings.TrimSpace(rating)
		}
		return ratings
	case echo.ChooseOne:
	}
	return text
}

func checkChosen(c *echo.Choose, value any) (any, error) {
	wrong := &FormError{Why: "the answer is " + chooseForm(c)}
	labels := Labels(c)
	if s, ok := value.(string); ok {
		value = typed(c.Mode, s)
	}
	switch c.Mode {
	case echo.ChooseRank:
		list, ok := value.([]any)
		if !ok || len(list) != len(labels) {
			return nil, wrong
		}
		for _, label := range labels {
			if !slices.Contains(list, any(label)) {
				return nil, wrong
			}
		}
		return list, nil
	case echo.ChooseRate:
		given, ok := value.(map[string]any)
		if !ok || len(given) != len(labels) {
			return nil, wrong
		}
		out := map[string]any{}
		for _, label := range labels {
			n, err := rated(DefaultMost, given[label])
			if err != nil {
				return nil, wrong
			}
			out[label] = n
		}
		return out, nil
	case echo.ChooseOne:
	}
	s, ok := value.(string)
	if at := slices.IndexFunc(Winners(c), func(w string) bool { return strings.EqualFold(w, strings.TrimSpace(s)) }); ok && at >= 0 {
		return Winners(c)[at], nil
	}
	return nil, wrong
}
