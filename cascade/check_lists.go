package cascade

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/internal/source"
)

// listRules are those of phases that run for each element of a list.
type listRules struct{ *checker }

func (k listRules) checkForEach(p located) {
	if p.ForEach == nil {
		return
	}
	at := p.at.Key("for_each")
	k.checkItems(at.Key("items"))
	k.checkAs(p, p.ForEach.Variable())
	if p.ChoosesRoute() {
		p.at.KeyError("handoffs", CodeMisplacedField,
			fmt.Sprintf("%s runs once for each element of a list, and its elements cannot choose one way together", p.title()),
			"let a phase after it choose, or write one hand-off without a description")
	}
}

func (k listRules) checkItems(at place) {
	n := at.Node()
	if n == nil || !at.Sound() {
		return
	}
	switch {
	case n.Kind == source.Array && len(n.Items) > MaxItems:
		at.Error(CodeOutOfRange, fmt.Sprintf("%s has %d elements, at most %d are run in one session", describe(at), len(n.Items), MaxItems),
			"run the cascade once for each (windlass batch, which is for that, is not there yet), or make the list shorter")
	case n.Kind == source.Array && len(n.Items) == 0:
		at.Warn(CodeNoEffect, describe(at)+" is empty, so nothing runs", "add elements, or write the path of a list, as outputs.plan.files")
	case n.Kind == source.String && strings.TrimSpace(n.Text) == "":
		at.Error(CodeInvalidValue, describe(at)+" names no list", listHint)
	case n.Kind == source.String && !IsTemplate(n.Text) && pathOf(n.Text) == nil:
		at.Error(CodeInvalidValue, fmt.Sprintf("%s is %q, which is neither a template nor the path of a list", describe(at), n.Text), listHint)
	}
}

const listHint = `write a list, the path of one as outputs.plan.files, or a template that renders a JSON list, as {{ outputs.plan.files | tojson }}`

// checkAs refuses a variable that would hide one of windlass, or that it makes itself.
func (k listRules) checkAs(p located, name string) {
	where := p.at.Keys("for_each", "as")
	if where.Node() == nil || !where.Sound() {
		return
	}
	for _, v := range []string{name, name + "_index"} {
		if _, taken := k.known.Variables.Phase[v]; taken || v == "subs" || v == "loop" || p.Soundings != nil && judged[v] != nil {
			where.Error(CodeInvalidName, fmt.Sprintf("%s cannot be %q: templates already have a variable %q", describe(where), name, v), "choose another name")
			return
		}
	}
}

// valuePath matches the path of a value, such as outputs.plan.files or input.lists.0.
var valuePath = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$`)

// pathOf returns the parts of the path of a value, names and numbers, nil for a text that is none.
func pathOf(text string) []any {
	if !valuePath.MatchString(text) {
		return nil
	}
	var path []any
	for part := range strings.SplitSeq(text, ".") {
		if n, err := strconv.ParseInt(part, 10, 64); err == nil {
			path = append(path, n)
		} else {
			path = append(path, part)
		}
	}
	return path
}
