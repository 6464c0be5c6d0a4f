package phasecontext

import (
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
)

// family is a family of models whose provider refuses some calls that another model has made.
type family struct {
	names   []string // how the names of its models begin, without the provider's prefix
	refuses func(*echo.ToolCall) bool
}

// families are those that are known to refuse calls. What they do with calls of their own family
// does not matter here.
var families = []family{
	// A function call without the signature of the thought that led to it is refused.
	{[]string{"gemini-3"}, always},
	// In thinking mode an answer with calls must have the reasoning that belongs to it.
	{[]string{"deepseek-reasoner", "deepseek-r1", "deepseek-v4"}, always},
	// The id of a call has nine letters and digits.
	{
		[]string{"mistral-", "ministral-", "open-mistral-", "open-mixtral-", "codestral-", "devstral-", "magistral-", "pixtral-", "mixtral-"},
		func(c *echo.ToolCall) bool {
			return len(c.ID) != 9 || strings.ContainsAny(c.ID, "_-") || !plainID(c.ID)
		},
	},
	// The id of a call has letters, digits, underscores and hyphens.
	{[]string{"claude-"}, func(c *echo.ToolCall) bool { return !plainID(c.ID) }},
	// The id of a call has at most 40 characters.
	{[]string{"gpt-", "chatgpt-", "o1", "o3", "o4"}, func(c *echo.ToolCall) bool { return len(c.ID) > 40 }},
}

func always(*echo.ToolCall) bool { return true }

// plainID reports whether an id has nothing but letters, digits, underscores and hyphens.
func plainID(id string) bool {
	return strings.IndexFunc(id, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	}) < 0
}

// familyOf returns the family of a model, nil when it is none that is known to refuse calls.
func familyOf(model string) *family {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	for i := range families {
		for _, begins := range families[i].names {
			if strings.HasPrefix(name, begins) {
				return &families[i]
			}
		}
	}
	return nil
}

// foreign says why calls and results of an earlier phase come in as text; "": they come in as they
// are. A call and its results come in alike, so it is decided for all of a phase.
func (e *Earlier) foreign(rec *echo.PhaseRecord) echo.Foreign {
	switch {
	case !e.Rules.TakesCalls:
		if others(rec, e.Phase.Model) || rec.Prompted != e.Phase.Prompted || !e.HasTools {
			return echo.ForeignModel
		}
	case rec.Prompted != e.Phase.Prompted:
		return echo.ForeignDialect
	case !e.HasTools:
		return echo.ForeignNoTools
	case others(rec, e.Phase.Model) && refused(rec, familyOf(e.Phase.Model)):
		return echo.ForeignModel
	}
	return ""
}

// others reports whether another model than this one was asked in a phase.
func others(rec *echo.PhaseRecord, model string) bool {
	return rec.Model != model || len(rec.Before) > 0
}

// refused reports whether a family refuses a call of an earlier phase of another family.
func refused(rec *echo.PhaseRecord, by *family) bool {
	if by == nil || by == familyOf(rec.Model) && allOf(by, rec.Before) {
		return false
	}
	return slices.ContainsFunc(rec.History, func(it echo.Item) bool { return refuses(by, it.Message) })
}

func allOf(f *family, models []string) bool {
	return !slices.ContainsFunc(models, func(m string) bool { return familyOf(m) != f })
}

func refuses(by *family, m *echo.Message) bool {
	return slices.ContainsFunc(m.ToolCalls(), func(c echo.ToolCall) bool { return by.refuses(&c) })
}

// TakeOver makes a model that of a visit that has begun with others. Calls so far are sent to it as
// text when its provider refuses one of them.
func TakeOver(rec *echo.PhaseRecord, model string) {
	rec.Before = append(rec.Before, rec.Model)
	rec.Model = model
	rec.ForgetThoughts()
	by := familyOf(model)
	if rec.Prompted || by == nil || allOf(by, rec.Before) {
		return
	}
	taken := func(it echo.Item) bool { return it.Foreign == "" && refuses(by, it.Message) }
	if !slices.ContainsFunc(rec.History, taken) {
		return
	}
	for i := range rec.History {
		if it := &rec.History[i]; it.Foreign == "" && (len(it.Message.ToolCalls()) > 0 || it.Message.Role() == echo.RoleTool) {
			it.Foreign = echo.ForeignModel
		}
	}
}
