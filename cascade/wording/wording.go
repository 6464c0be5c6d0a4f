// Package wording is what messages say of the places and keys of a cascade.
package wording

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/cascade/document"
	"github.com/windlass-run/windlass/cascade/settings"
	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/internal/source"
)

// Words are what messages say of a file. They implement [document.Words].
type Words struct {
	Title string   // what the whole of it is called
	Rules []string // the keys of a phase's rules
}

// What the whole of a document is called in messages.
const (
	Cascade  = "the cascade"
	Tool     = "the tool"
	Settings = "the settings"
)

// What is written in place of what is wrong.
const (
	SpanHint     = `write seconds as a number, or a span as "90s", "5m" or "1h30m"`
	ManifestHint = "list the tools by name"
)

// Manifest stands for the tools that a later version chooses by itself.
const Manifest = "manifest"

// Home implements [document.Words].
func (w Words) Home(at document.Place, key string, surely bool) string {
	if surely {
		return interKeyHome(at.Pointer(), key)
	}
	if home := w.keyHome(key); home != "" {
		return fmt.Sprintf("%q belongs %s", key, home)
	}
	return ""
}

// TooFew implements [document.Words].
func (w Words) TooFew(at document.Place) (code document.Code, message, hint string) {
	if at.Pointer() != "/phases" {
		return "", "", ""
	}
	return document.CodeNoPhases, "the cascade has no phases", `add at least one, as {"name": "answer", "instructions": "..."}`
}

// WrongText implements [document.Words], by the key.
func (w Words) WrongText(at document.Place, text string) (code document.Code, message, hint string) {
	pointer := at.Pointer()
	if code, message, hint := wrongPeople(pointer, at.Describe(), text); code != "" {
		return code, message, hint
	}
	if triggerPointer.MatchString(pointer) {
		return wrongTrigger(pointer, at.Describe(), text)
	}
	if isMemory(strings.TrimSuffix(pointer, "/name")) {
		return document.CodeInvalidName, text + " cannot be the name of a bank",
			"it has 1 to 64 lower-case letters, digits, - and _, the first a letter or a digit; a bank that all projects share is shared:NAME"
	}
	switch pointer[strings.LastIndexByte(pointer, '/')+1:] {
	case "ref":
		return document.CodeUnknownCascade, at.Describe() + " names no cascade", "write a path relative to this file, or a cascade_id"
	case "validator":
		hint := "name one or remove the ward"
		if soundingsPointer.MatchString(strings.TrimSuffix(pointer, "/validator")) {
			hint = "name one or remove the key"
		}
		return document.CodeUnknownValidator, at.Describe() + " names no validator", hint
	case "threshold":
		return document.CodeUnknownValidator, at.Describe() + " names no validator", "name one or remove the key"
	case "as":
		return document.CodeInvalidName, text + " cannot be the name of a variable", "a variable starts with a letter or underscore and goes on with letters, digits and _"
	case "name":
		if strings.Contains(pointer, "_cascades/") {
			return document.CodeInvalidName, text + " cannot be the name of a child", "it starts with a letter or underscore and goes on with letters, digits, _ and -"
		}
		return document.CodeInvalidName, text + " cannot be the name of a phase",
			"a phase's name starts with a letter or underscore and goes on with letters, digits, _ and -"
	case "tool_id":
		return document.CodeInvalidName, text + " cannot be the name of a tool", "a tool's name has letters, digits, _ and -, at most 64 of them"
	case "timeout":
		return document.CodeInvalidValue, text + " is no time span above zero", SpanHint
	case "cascade_id":
		return document.CodeInvalidName, "the cascade_id is empty", "name the workflow, as logs and cost reports are to show it"
	}
	return "", "", ""
}

// wrongPeople is WrongText for what asks people.
func wrongPeople(pointer, what, text string) (code document.Code, message, hint string) {
	switch key := pointer[strings.LastIndexByte(pointer, '/')+1:]; {
	case approvePointer.MatchString(pointer):
		return document.CodeInvalidValue, text + " is no name of tools", `a tool's name has letters, digits, _ and -; * stands for any characters, as in "write_*"`
	case waitPointer.MatchString(pointer):
		return document.CodeInvalidValue, what + " is empty", "write it or remove it"
	case !humanPointer.MatchString(pointer):
	case key == "name":
		return document.CodeInvalidName, text + " cannot be the name of a field", "a field's name starts with a letter or underscore and goes on with letters, digits and _"
	case key == "prompt" || key == "condition":
		return document.CodeInvalidValue, what + " is empty", "write it or remove it"
	default: // an option
		return document.CodeInvalidValue, what + " is empty", "write what the answer is to say, or remove the option"
	}
	return "", "", ""
}

// wrongTrigger is WrongText for triggers.
func wrongTrigger(pointer, what, text string) (code document.Code, message, hint string) {
	switch pointer[strings.LastIndexByte(pointer, '/')+1:] {
	case "name":
		return document.CodeInvalidName, text + " cannot be the name of a trigger", "it starts with a letter and goes on with letters, digits, _ and -, at most 40 of them"
	case "secret_env":
		return document.CodeInvalidName, text + " cannot be the name of a variable", "name the variable that has the secret, as DEPLOY_HOOK_SECRET; the secret itself is in no file"
	}
	return document.CodeInvalidValue, what + " is empty", "write it or remove it"
}

// Instead implements [document.Words].
func (w Words) Instead(at document.Place) string {
	last := max(0, strings.LastIndexByte(at.Pointer(), '/'))
	switch parent, key := at.Pointer()[:last], at.Pointer()[last:]; {
	case key == "/human_input" && phasePointer.MatchString(parent):
		return `write true, or what is asked, as {"type": "confirmation", "prompt": "Publish it?"}; to ask nobody, remove it`
	case key == "/decision_points" && phasePointer.MatchString(parent):
		return `write true, or where decisions lead, as {"routing": {"again": "_retry", "publish": "publish"}}; without decisions, remove it`
	case key == "/audibles" && (parent == "" || phasePointer.MatchString(parent)):
		return `write true, false, or what is allowed, as {"budget": 3, "allow_retry": false}`
	case isMemory(at.Pointer()):
		return `write the name of a bank, as "notes" or "shared:notes"; false is no memory`
	case key == "/approve" && toolPointer.MatchString(parent):
		return "write true or false"
	case key == "/approve" && strings.HasSuffix(parent, "/rules"):
		return `list the names of tools, as ["write_*", "deploy"]`
	case key == "/timeout_seconds" && waitsPointer.MatchString(parent):
		return "write seconds as a number above 0, at most 31536000, which is a year; without it the wait has no end"
	}
	if !soundingsPointer.MatchString(at.Pointer()[:last]) {
		return insteadOfWait(at.Pointer())
	}
	switch at.Pointer()[last:] {
	case "/evaluator":
		return `write "model", which judges in pairs of ballots and answers by a schema, where a number in a text is no verdict; "human", or "hybrid"`
	case "/human_eval":
		return `write how a person chooses, as {"selection_mode": "rank_all"}; {"evaluator": "human"} alone has a person pick one`
	case "/llm_prefilter":
		return "write how many candidates the model leaves to a person: a number from 2 to 64"
	case "/factor":
		return "write how many candidates there are: a number from 2 to 64"
	}
	return ""
}

// insteadOfWait is Instead for the parts of what waits.
func insteadOfWait(pointer string) string {
	for pattern, hint := range insteadOf {
		if pattern.MatchString(pointer) {
			return hint
		}
	}
	return ""
}

// insteadOf has what is written in places of which no two are the same.
var insteadOf = map[*regexp.Regexp]string{
	regexp.MustCompile(`^/phases/\d+(/on_error)*/wait$`):                        `write what is awaited, as {"signal": "deployed", "timeout_seconds": 3600}`,
	regexp.MustCompile(`^/phases/\d+(/on_error)*/wait/any(/\d+)?$`):             `write signals, and one question: "any": [{"signal": "deployed"}, {"ask": {"prompt": "Go on?"}}]`,
	regexp.MustCompile(`^/phases/\d+(/on_error)*/wait/any/\d+/ask$`):            `write what a person is asked, as {"type": "confirmation", "prompt": "Go on?"}`,
	regexp.MustCompile(`^/phases/\d+(/on_error)*/wait/(any/\d+/)?signal$`):      `write the name of a signal, as "deployed"`,
	regexp.MustCompile(`^/phases/\d+(/on_error)*/decision_points/routing$`):     `write what follows from each option, by its id, as {"again": "_retry", "publish": "publish"}`,
	regexp.MustCompile(`^/phases/\d+(/on_error)*/decision_points/routing/`):     "write the name of a phase, _continue, _retry or _abort",
	regexp.MustCompile(`^/phases/\d+(/on_error)*/decision_points/max_retries$`): "write how often a person can have the phase run again, a number from 0",
	regexp.MustCompile(humanPlace + `/fields/\d+$`):                             `write a field, as {"name": "reason"}`,
}

// Describe implements [document.Words]: the phase, tool or validator around it and the path inside.
func (w Words) Describe(at document.Place) string {
	tokens := source.SplitPointer(at.Pointer())
	var owner string
	var rest []string
	switch {
	case len(tokens) == 0:
		return w.Title
	case len(tokens) >= 2 && tokens[0] == "phases":
		owner, rest = named("phase", at.Document().Root().Key("phases"), tokens[1], "name"), tokens[2:]
	case len(tokens) >= 2 && tokens[0] == "tools":
		owner, rest = named("tool", at.Document().Root().Key("tools"), tokens[1], "tool_id"), tokens[2:]
	case len(tokens) >= 2 && tokens[0] == "triggers":
		owner, rest = named("trigger", at.Document().Root().Key("triggers"), tokens[1], "name"), tokens[2:]
	case len(tokens) >= 2 && tokens[0] == "validators":
		owner, rest = fmt.Sprintf("validator %q", tokens[1]), tokens[2:]
	default:
		return fmt.Sprintf("%q", strings.Join(tokens, "."))
	}
	if len(rest) == 0 {
		return owner
	}
	return fmt.Sprintf("%q of %s", strings.Join(rest, "."), owner)
}

func named(kind string, list document.Place, index, key string) string {
	if n := list.Key(index).Node(); n != nil {
		if name := n.Get(key); name != nil && name.Kind == source.String && name.Text != "" {
			return fmt.Sprintf("%s %q", kind, name.Text)
		}
	}
	if i, err := strconv.Atoi(index); err == nil {
		return fmt.Sprintf("%s %d", kind, i+1)
	}
	return kind
}

// KeysOf returns the JSON keys of the fields of a struct.
func KeysOf[T any]() []string {
	var keys []string
	for field := range reflect.TypeFor[T]().Fields() {
		key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		keys = append(keys, key)
	}
	return keys
}

// keyHome says where a key belongs that people misplace; "" for any other.
func (w Words) keyHome(key string) string {
	switch {
	case slices.Contains(w.Rules, key):
		return `in the phase's "rules"`
	case key != "enabled" && slices.Contains(KeysOf[settings.IntraContext](), key):
		return `in the phase's "intra_context", or for all phases in "auto_context": {"intra_phase": {...}}`
	case key == "intra_context":
		return `in a phase; for all phases write "auto_context": {"intra_phase": {...}}`
	case key == "auto_context":
		return `in the cascade; a phase has "intra_context"`
	case key == "intra_phase":
		return `in the cascade's "auto_context"; a phase has "intra_context"`
	case key == "max_parallel":
		return `in the cascade, for phases with "after", in "for_each" or in "soundings"`
	case key == "token_budget":
		return `in the cascade; for one phase write "token_budget": {"phase_overrides": {"NAME": {...}}}`
	case key == "soundings":
		return "in a phase, or in the cascade for whole runs"
	case key == "audibles":
		return "in a phase, or in the cascade for all phases"
	case key == "allow_retry":
		return `in "audibles"`
	case slices.Contains([]string{"scratchpad", "state_block", "groups", "memos"}, key):
		return `in "continuity"`
	case key == "memory", key == "continuity":
		return "in a phase, or in the cascade for all phases"
	case slices.Contains(soundingKeys(), key):
		return `in "soundings"`
	case slices.Contains(KeysOf[soundings.Reforge](), key):
		return `in "reforge" of "soundings"`
	case slices.Contains([]string{
		"instructions", "tackle", "handoffs", "rules", "output_schema", "callouts", "context", "routing", "on_error", "after", "for_each", "sub_cascades",
		"async_cascades", "wards", "human_input", "decision_points",
	}, key):
		return "in a phase"
	}
	return ""
}

// soundingKeys returns the keys of soundings that mean nothing elsewhere.
func soundingKeys() []string {
	common := []string{"max_parallel", "validator", "output_schema", "mode"}
	return slices.DeleteFunc(KeysOf[soundings.Soundings](), func(key string) bool { return slices.Contains(common, key) })
}

// interKeyHome is keyHome for the context between phases. Some keys have a meaning elsewhere, too.
func interKeyHome(pointer, key string) string {
	inBlock := contextPointer.MatchString(pointer) || pointer == "/auto_context/inter_phase"
	elsewhere := ""
	if !inBlock {
		elsewhere = `, in a phase's "context" or for all phases in "auto_context": {"inter_phase": {...}}`
	}
	var home string
	switch {
	case key == "inter_context":
		return `a phase has "context": {"mode": "auto", "anchors": {...}, "selection": {...}}; for all phases write "auto_context": {"inter_phase": {...}}`
	case key == "inter_phase":
		home = `in the cascade's "auto_context"; a phase has "context"`
	case key == "card_model" || key == "cards":
		home = `in the cascade's "auto_context": {"inter_phase": {...}}`
	case key == "anchors" || key == "selection":
		home = `in a phase's "context", or for all phases in "auto_context": {"inter_phase": {...}}`
	case !inBlock && slices.Contains([]string{"window", "include", "strategy", "max_tokens"}, key):
		return ""
	case slices.Contains(KeysOf[settings.Anchors](), key):
		home = `in "anchors"` + elsewhere
	case slices.Contains(KeysOf[settings.Selection](), key):
		home = `in "selection"` + elsewhere
	default:
		return ""
	}
	return fmt.Sprintf("%q belongs %s", key, home)
}

// humanPlace is where a person is asked by a form of the file.
const humanPlace = `^/phases/\d+(/on_error)*/(human_input|wait/any/\d+/ask)`

// Keys and values that later versions bring are not called unknown.
var (
	contextPointer = regexp.MustCompile(`^/phases/\d+(/on_error)*/context$`)
	phasePointer   = regexp.MustCompile(`^/phases/\d+(/on_error)*$`)
	tacklePointer  = regexp.MustCompile(`^/phases/\d+(/on_error)*/(tackle|tools)(/\d+)?$`)
	toolPointer    = regexp.MustCompile(`^/tools/\d+$`)

	triggerPointer = regexp.MustCompile(`^/triggers/\d+/[a-z_]+$`)
	waitPointer    = regexp.MustCompile(`^/phases/\d+(/on_error)*/wait/(any/\d+/)?(signal|route|description)$`)
	humanPointer   = regexp.MustCompile(humanPlace + `/`)
	waitsPointer   = regexp.MustCompile(`(^/phases/\d+(/on_error)*/(human_input|wait|decision_points)|/soundings/human_eval)$`)
	approvePointer = regexp.MustCompile(`^/phases/\d+(/on_error)*/rules/approve/\d+$`)

	soundingsPointer = regexp.MustCompile(`^(/phases/\d+(/on_error)*)?/soundings$`)
)

// Later implements [document.Words].
func (w Words) Later(at document.Place, key string) bool {
	pointer := at.Pointer()
	if w.Title != Cascade {
		return pointer == "" && w.Title == Tool && key == "steps"
	}
	var later []string
	switch {
	case pointer == "":
		later = []string{
			"mcp_servers", "tool_caching", "research_db", "rag", "narrator", "ui_mode", "browser",
		}
	case phasePointer.MatchString(pointer):
		later = []string{
			"output_extraction", "rag", "manifest_context", "narrator", "browser",
		}
	case toolPointer.MatchString(pointer):
		later = []string{"steps"}
	}
	return slices.Contains(later, key)
}

// isMemory reports whether a place is the memory of a cascade, or of a phase.
func isMemory(pointer string) bool {
	of, is := strings.CutSuffix(pointer, "/memory")
	return is && (of == "" || phasePointer.MatchString(of))
}

// LaterValue implements [document.Words].
func (w Words) LaterValue(at document.Place) (what, hint string) {
	pointer, n := at.Pointer(), at.Node()
	if n == nil || n.Kind != source.String {
		return "", ""
	}
	last := max(0, strings.LastIndexByte(pointer, '/'))
	parent, key := pointer[:last], strings.TrimPrefix(pointer[last:], "/")
	switch {
	case key == "type" && (n.Text == "composite" || n.Text == "cascade") && (parent == "" || toolPointer.MatchString(parent)):
		return fmt.Sprintf("the tool type %q", n.Text), "declare a shell or http tool"
	case n.Text == Manifest && tacklePointer.MatchString(pointer):
		return fmt.Sprintf("choosing tools by %q", Manifest), ManifestHint
	}
	return "", ""
}
