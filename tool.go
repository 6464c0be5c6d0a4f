package windlass

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/invopop/jsonschema"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/tool"
	"github.com/windlass-run/windlass/schema"
)

// Tool is a tool of the program, which models call by its name. [Func] makes one, [WithTool] gives
// it to a run.
type Tool struct {
	fn  tool.Func
	err error // why it cannot be used
}

// Name returns the name that phases and models call it by.
func (t Tool) Name() string { return t.fn.Spec.Name }

// Parameters returns the JSON Schema of its arguments.
func (t Tool) Parameters() json.RawMessage { return t.fn.Spec.Parameters }

// toolName is what providers accept as the name of a tool.
var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// ToolOption says more of a tool.
type ToolOption func(*Tool)

// Idempotent says that calling the tool twice does no harm: it only reads, or writes what it wrote
// before. Such a tool is called again when the process died during a call; with another one the
// model is told that the outcome is not known.
func Idempotent() ToolOption { return func(t *Tool) { t.fn.Spec.Idempotent = true } }

// Timeout sets how long a call may take, 60 seconds unless it is set. The function's context ends
// then.
func Timeout(d time.Duration) ToolOption { return func(t *Tool) { t.fn.Timeout = d } }

// Func makes a tool of a function.
//
// In is a struct, or a map with strings as keys. The schema of the arguments is made of it: names
// from json tags, descriptions and limits from jsonschema tags, as `json:"service"
// jsonschema:"description=which one,enum=checkout,enum=search"`. A field without omitempty is
// required. Arguments are checked against the schema before fn is called.
//
// A model is sent an Out that is a string as it is, and any other value as JSON. An error is shown
// to the model, as that of a failed call, and so is a panic. fn must be safe for concurrent use:
// the calls of one answer run in parallel. It should bound what it returns.
//
// A tool that cannot be made, as of an In without a schema, is an error of the run that it is given
// to.
func Func[In, Out any](name, description string, fn func(context.Context, In) (Out, error), options ...ToolOption) Tool {
	t := Tool{fn: tool.Func{Spec: effect.ToolSpec{Name: name, Description: description}}}
	t.fn.Spec.Parameters, t.err = parametersOf[In]()
	switch {
	case t.err != nil:
	case fn == nil:
		t.err = errors.New("it has no function")
	case !toolName.MatchString(name):
		t.err = errors.New("its name must be 1 to 64 letters, digits, _ and -")
	case slices.Contains(engine.OwnTools(), name):
		t.err = errors.New("the engine has a tool of that name")
	}
	if t.err != nil {
		t.err = failure.New(InvalidRequest, fmt.Errorf("tool %q: %w", name, t.err), "Func describes what a tool is made of")
		return t
	}
	t.fn.Run = func(ctx context.Context, req effect.ToolRequest) (res effect.ToolResult) {
		var in In
		var out Out
		var err error
		why := shielded(func() {
			if err = json.Unmarshal(req.Arguments, &in); err != nil {
				err = fmt.Errorf("the arguments cannot be read: %w", err)
				return
			}
			out, err = fn(ctx, in)
		})
		switch {
		case why != "":
			return failed("the tool %s %s", name, why)
		case err != nil:
			return failed("%v", err)
		}
		return answerOf(out)
	}
	for _, o := range options {
		if o == nil {
			t.err = failure.New(InvalidRequest, fmt.Errorf("tool %q: an option of it is nil", name), "")
			return t
		}
		o(&t)
	}
	return t
}

func failed(format string, args ...any) effect.ToolResult {
	return effect.ToolResult{Parts: echo.Text(fmt.Sprintf(format, args...)), Failed: true, Kind: "failed"}
}

func answerOf(out any) effect.ToolResult {
	if s, ok := out.(string); ok {
		return effect.ToolResult{Parts: echo.Text(s)}
	}
	text, err := json.Marshal(out)
	if err != nil {
		return failed("the result cannot be encoded: %v", err)
	}
	return effect.ToolResult{Parts: echo.Text(string(text))}
}

// parametersOf returns the schema of a type of arguments.
func parametersOf[In any]() (text json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil { // of the generator, for a type that JSON has no form for
			err = fmt.Errorf("no schema can be made of %T: %v", *new(In), p)
		}
	}()
	r := jsonschema.Reflector{Anonymous: true}
	s := expanded(r.Reflect(new(In)))
	if text, err = json.Marshal(s); err != nil {
		return nil, fmt.Errorf("encode the schema of %T: %w", *new(In), err)
	}
	if s.Type != "object" {
		return nil, fmt.Errorf("its arguments are a %T: expected a struct, or a map with strings as keys", *new(In))
	}
	if _, err := schema.Compile(text); err != nil {
		return nil, fmt.Errorf("the schema of %T: %w", *new(In), err)
	}
	return text, nil
}

// expanded returns a schema whose root is no reference to one of its definitions. A type that
// refers to itself stays among them.
func expanded(s *jsonschema.Schema) *jsonschema.Schema {
	name, ok := strings.CutPrefix(s.Ref, "#/$defs/")
	if !ok {
		s.Version = ""
		return s
	}
	root := *s.Definitions[name]
	root.Definitions = s.Definitions
	own := s.Definitions[name]
	delete(s.Definitions, name)
	if text, err := json.Marshal(&root); err == nil && strings.Contains(string(text), `"`+s.Ref+`"`) {
		s.Definitions[name] = own
	}
	return &root
}
