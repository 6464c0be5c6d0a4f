package cascade

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/itchyny/gojq"

	"github.com/windlass-run/windlass/cascade/validators"
	"github.com/windlass-run/windlass/cascade/wording"
	"github.com/windlass-run/windlass/internal/source"
	"github.com/windlass-run/windlass/schema"
)

type toolRules struct{ *checker }

// declareTools checks the cascade's own tools and those of the files beside it, and leaves all
// that apply in the cascade. Its own win over a file's.
func (k toolRules) declareTools(ctx context.Context, files []*source.File, found *Diagnostics) {
	own := k.root.Key("tools")
	for i := range k.cascade.Tools {
		k.tools.declare(declared{Tool: &k.cascade.Tools[i], at: own.Index(i)})
	}
	ownCount := len(k.tools.list)
	for _, f := range files {
		doc := open(ctx, wording.Tool, f, schema.Tool(), found)
		t := &Tool{}
		if doc.Decode(t) {
			k.tools.declareFile(declared{Tool: t, at: doc.Root()}, ownCount)
		}
	}
	for _, t := range k.tools.list[ownCount:] {
		k.cascade.Tools = append(k.cascade.Tools, *t.Tool)
	}
	for _, t := range k.tools.list {
		if k.stop() != nil {
			return
		}
		k.checkDeclared(t)
	}
}

func (k toolRules) checkDeclared(t declared) {
	if slices.Contains(k.known.Tools, t.ToolID) {
		t.at.Key("tool_id").Error(CodeShadowsBuiltin, fmt.Sprintf("%q is the name of a built-in tool", t.ToolID), "choose another name")
	} else if slices.Contains(validators.BuiltinNames(), t.ToolID) {
		t.at.Key("tool_id").Error(CodeShadowsBuiltin, fmt.Sprintf("%q is the name of a built-in validator", t.ToolID), "choose another name")
	}
	k.checkToolFields(t)
	k.schemas.CheckInputs(t.InputsSchema, t.at)
	k.checkJQ(t)
	k.templates.checkTool(t)
	variableRules(k).checkToolVariables(t)
}

func (k toolRules) checkToolFields(t declared) {
	var needs string
	var foreign []string
	switch t.Type {
	case ToolShell:
		needs, foreign = "command", []string{"method", "url", "headers", "body"}
	case ToolHTTP:
		needs, foreign = "url", []string{"command"}
	default:
		return // The schema has said so.
	}
	if !t.at.Has(needs) && !t.at.Meant(needs) || t.at.Key(needs).Blank() {
		t.at.Key(needs).Error(CodeIncompleteTool, fmt.Sprintf("%s is of type %s and needs a %q", t.title(), t.Type, needs), "add it")
	}
	for _, key := range t.at.Written(foreign...) {
		t.at.KeyError(key, CodeMisplacedField, fmt.Sprintf("%q does not belong to a tool of type %s", key, t.Type), "remove it")
	}
	if t.Type == ToolHTTP && strings.TrimSpace(t.URL) != "" && !isWebAddress(t.URL) {
		t.at.Key("url").Error(CodeInvalidValue, fmt.Sprintf("the url of %s starts with neither http:// nor https://", t.title()), "write the whole address, as https://example.com/{{ id }}")
	}
}

// isWebAddress reports whether a template can become an address of the web.
func isWebAddress(url string) bool {
	scheme, _, found := strings.Cut(strings.ToLower(url), "://")
	return strings.Contains(scheme, "{") || found && (scheme == "http" || scheme == "https")
}

const jqHint = "a jq program is for example .items | length; the manual of jq describes more"

// MaxJQBytes bounds a response_jq: compiling one takes memory with its nesting.
const MaxJQBytes = 16 << 10

func (k toolRules) checkJQ(t declared) {
	if t.ResponseJQ == "" {
		return
	}
	at := t.at.Key("response_jq")
	if len(t.ResponseJQ) > MaxJQBytes {
		at.Error(CodeInvalidJQ, fmt.Sprintf("response_jq of %s has %d bytes, more than the limit of %d", t.title(), len(t.ResponseJQ), MaxJQBytes), "let it choose less, or work on the result in a phase")
		return
	}
	query, err := gojq.Parse(t.ResponseJQ)
	if err == nil {
		_, err = gojq.Compile(query)
	}
	message := fmt.Sprintf("response_jq of %s is no jq program: %v", t.title(), err)
	var pe *gojq.ParseError
	switch {
	case errors.As(err, &pe):
		before := t.ResponseJQ[:min(max(pe.Offset-len(pe.Token), 0), len(t.ResponseJQ))]
		at.Mark(SeverityError, CodeInvalidJQ, endOf(before), endOf(before), message, jqHint)
	case err != nil:
		at.Error(CodeInvalidJQ, message, jqHint)
	}
}

func endOf(text string) source.Pos {
	lastLine := text[strings.LastIndexByte(text, '\n')+1:]
	return source.Pos{Line: strings.Count(text, "\n") + 1, Col: utf8.RuneCountInString(lastLine) + 1}
}
