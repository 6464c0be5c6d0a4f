package app

import (
	"errors"
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/template"
	"github.com/windlass-run/windlass/internal/tool"
)

// Known tells the loader of cascades what they refer to without declaring it: the built-in tools
// and more of them, and what a template is.
func Known(tools ...string) cascade.Known {
	return cascade.Known{
		Tools:         slices.Concat(tool.BuiltinNames(), engine.OwnTools(), tools),
		CheckTemplate: checkTemplate,
	}
}

func checkTemplate(kind cascade.TemplateKind, text string) *cascade.TemplateProblem {
	_, err := template.ParseMode(tool.TemplateModes[kind], text)
	if err == nil {
		return nil
	}
	var syntax *template.SyntaxError
	if errors.As(err, &syntax) {
		return &cascade.TemplateProblem{Line: syntax.Line, Col: syntax.Col, Message: syntax.Msg, Hint: syntax.Hint}
	}
	return &cascade.TemplateProblem{Message: err.Error()}
}
