package cascade

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/itchyny/gojq"

	"github.com/windlass-run/windlass/internal/source"
	"github.com/windlass-run/windlass/schema"
)

// declareTools gathers the cascade's own tools and those of the files beside it, checks them, and leaves all that apply
// in the cascade. Its own win over a file's.
func (k *checker) declareTools(ctx context.Context, files []rawFile, found *Diagnostics) {
	k.toolAt = map[string]int{}
	own := k.root.key("tools")
	for i := range k.cascade.Tools {
		k.declare(declared{Tool: &k.cascade.Tools[i], at: own.index(i)})
	}
	ownCount := len(k.tools)
	for _, f := range files {
		doc := open(ctx, titleTool, f, schema.Tool(), found)
		t := &Tool{}
		if doc.decode(t) {
			k.declareFile(declared{Tool: t, at: place{doc: doc}}, ownCount)
		}
	}
	for _, t := range k.tools[ownCount:] {
		k.cascade.Tools = append(k.cascade.Tools, *t.Tool)
	}
	for _, t := range k.tools {
		if k.stop() != nil {
			return
		}
		k.checkDeclared(t)
	}
}

func (k *checker) declare(t declared) {
	i, taken := k.toolAt[t.ToolID]
	switch {
	case taken:
		t.at.key("tool_id").error(CodeDuplicateTool,
			fmt.Sprintf("two tools are called %q; the first is at %s", t.ToolID, k.tools[i].at.key("tool_id")), "give each tool a name of its own")
	case t.ToolID != "":
		k.toolAt[t.ToolID] = len(k.tools)
	}
	k.tools = append(k.tools, t)
}

// declareFile adds a tool file's tool unless the cascade has one of the name itself.
func (k *checker) declareFile(t declared, ownCount int) {
	if i, taken := k.toolAt[t.ToolID]; taken && i < ownCount {
		k.tools[i].at.key("tool_id").warn(CodeToolFileOverridden,
			fmt.Sprintf("the cascade's tool %q takes the place of the one in %s", t.ToolID, t.at.doc.file.Name), "rename one of the two")
		return
	}
	k.declare(t)
}

// checkDeclared checks one tool's declaration.
func (k *checker) checkDeclared(t declared) {
	if slices.Contains(k.known.Tools, t.ToolID) {
		t.at.key("tool_id").error(CodeShadowsBuiltin, fmt.Sprintf("%q is the name of a built-in tool", t.ToolID), "choose another name")
	} else if slices.Contains(builtinValidatorNames(), t.ToolID) {
		t.at.key("tool_id").error(CodeShadowsBuiltin, fmt.Sprintf("%q is the name of a built-in validator", t.ToolID), "choose another name")
	}
	k.checkToolFields(t)
	k.checkInputsSchema(t.InputsSchema, t.at)
	k.checkJQ(t)
	k.checkToolTemplates(t)
}

// checkToolFields holds a tool to the fields of its type.
func (k *checker) checkToolFields(t declared) {
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
	if !t.at.has(needs) && !t.at.meant(needs) || blank(t.at.key(needs)) {
		t.at.key(needs).error(CodeIncompleteTool, fmt.Sprintf("%s is of type %s and needs a %q", k.toolTitle(t), t.Type, needs), "add it")
	}
	for _, key := range foreign {
		if t.at.has(key) {
			t.at.keyError(key, CodeMisplacedField, fmt.Sprintf("%q does not belong to a tool of type %s", key, t.Type), "remove it")
		}
	}
	if t.Type == ToolHTTP && strings.TrimSpace(t.URL) != "" && !isWebAddress(t.URL) {
		t.at.key("url").error(CodeInvalidValue, fmt.Sprintf("the url of %s starts with neither http:// nor https://", k.toolTitle(t)), "")
	}
}

// isWebAddress reports whether a template can become an address of the web.
func isWebAddress(url string) bool {
	scheme, _, found := strings.Cut(strings.ToLower(url), "://")
	return strings.Contains(scheme, "{") || found && (scheme == "http" || scheme == "https")
}

func (k *checker) toolTitle(t declared) string {
	if t.ToolID == "" {
		return describe(t.at)
	}
	return fmt.Sprintf("tool %q", t.ToolID)
}

// MaxJQBytes bounds a response_jq: compiling one takes memory with its nesting.
const MaxJQBytes = 16 << 10

// checkJQ compiles the program over a tool's result.
func (k *checker) checkJQ(t declared) {
	if t.ResponseJQ == "" {
		return
	}
	at := t.at.key("response_jq")
	if len(t.ResponseJQ) > MaxJQBytes {
		at.error(CodeInvalidJQ, fmt.Sprintf("response_jq of %s has %d bytes, more than the limit of %d", k.toolTitle(t), len(t.ResponseJQ), MaxJQBytes), "")
		return
	}
	query, err := gojq.Parse(t.ResponseJQ)
	if err == nil {
		_, err = gojq.Compile(query)
	}
	if err == nil {
		return
	}
	message := fmt.Sprintf("response_jq of %s is no jq program: %v", k.toolTitle(t), err)
	var pe *gojq.ParseError
	if errors.As(err, &pe) {
		before := t.ResponseJQ[:min(max(pe.Offset-len(pe.Token), 0), len(t.ResponseJQ))]
		k.errorInside(at, CodeInvalidJQ, endOf(before), message, "")
		return
	}
	at.error(CodeInvalidJQ, message, "")
}

// endOf returns the place after a text.
func endOf(text string) source.Pos {
	lastLine := text[strings.LastIndexByte(text, '\n')+1:]
	return source.Pos{Line: strings.Count(text, "\n") + 1, Col: utf8.RuneCountInString(lastLine) + 1}
}

// errorInside reports something at a place inside a string.
func (k *checker) errorInside(at place, code Code, inside source.Pos, message, hint string) {
	n := at.node()
	if n == nil || n.Kind != source.String {
		at.error(code, message, hint)
		return
	}
	start := at.doc.file.Inside(n, inside)
	at.doc.report(SeverityError, code, span{start, start + 1}, message, hint)
}
