// Package tool is the set of tools of a run: the built-in ones, and the shell and http tools that a
// cascade declares. [Registry] implements effect.Tools.
//
// What a model writes is hostile. Paths stay inside the granted folders whatever links there are;
// commands run only when they were allowed, or written by the cascade's author, with every value
// quoted; what a tool returns is bounded; nothing that a tool started outlives its call.
package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/secret"
	"github.com/windlass-run/windlass/internal/tool/command"
)

// The names of the built-in tools.
const (
	ReadFile    = "read_file"
	ListFiles   = "list_files"
	SearchFiles = "search_files"
	WriteFile   = "write_file"
	RunCommand  = "run_command"
	SQLQuery    = "sql_query"
)

// builtins are the tools of every run, without the engine's own. A new one is a name above, a line
// here, and a file of its own with the function that makes it.
var builtins = map[string]func(r *Registry, o Options, env environment) tool{
	ListFiles:   func(r *Registry, _ Options, _ environment) tool { return listTool(r.files) },
	ReadFile:    func(r *Registry, _ Options, _ environment) tool { return readTool(r.files) },
	RunCommand:  func(r *Registry, o Options, env environment) tool { return commandTool(o, env, r.files.dir()) },
	SearchFiles: func(r *Registry, _ Options, _ environment) tool { return searchTool(r.files) },
	SQLQuery:    func(r *Registry, o Options, _ environment) tool { return sqlTool(o.SQL, r.secrets) },
	WriteFile:   func(r *Registry, _ Options, _ environment) tool { return writeTool(r.files) },
}

// BuiltinNames returns the names of the tools of every run, sorted, without the engine's own.
func BuiltinNames() []string { return slices.Sorted(maps.Keys(builtins)) }

// The kinds of failed results.
const (
	kindBadArguments = "invalid_arguments"
	kindFailed       = "failed"
	kindNotAllowed   = "not_allowed"
	kindNotFound     = "not_found"
	kindTimeout      = "timeout"
	kindExitStatus   = "exit_status"
	kindHTTPStatus   = "http_status"
	kindOutputLimit  = "output_limit"
	kindUnsupported  = "unsupported"
)

// Limits that are the same for all tools.
const (
	// DefaultTimeout is how long a tool may take that says nothing itself.
	DefaultTimeout = 60 * time.Second
	// maxTimeout is the longest time that a model may ask for.
	maxTimeout = 10 * time.Minute
	// maxText is how many bytes of text a tool returns.
	maxText = 64 << 10
)

// Querier runs SQL of a model as a user that can only read, and only the session's own rows. Values
// are of the types that encoding/json knows.
type Querier interface {
	// Deliver has the session delivered as far as it is recorded, and waits for that while ctx
	// allows. It returns up to which entry there are rows, and the newest entry.
	Deliver(ctx context.Context) (upTo, newest uint64)
	QuerySession(ctx context.Context, sessionID, sql string) (columns []string, rows [][]any, err error)
}

// Options say what tools may do.
type Options struct {
	Roots           []string       // the granted folders; without any, Work too: the working directory. Paths are relative to the first
	Work            string         // the session's own folder, granted after the others; "": none
	Private         []string       // folders that file tools leave alone, apart from granted ones inside them
	ProtectPaths    []string       // what no tool writes, besides the table of protection
	AllowWrite      []string       // what tools write all the same; see [protection.New]
	AllowCommands   bool           // run_command runs anything
	TrustedCommands []string       // commands that run_command runs in any case, see [Registry]
	Declared        []cascade.Tool // the cascade's own tools
	Funcs           []Func         // the tools of the program that runs it
	SQL             Querier        // nil: there is no ClickHouse
	AllowEnv        []string       // environment variables that tools and their templates see
	Getenv          func(string) (string, bool)
	Secrets         *secret.Set  // that no result shows, beside the granted values
	Log             *slog.Logger // for what went wrong inside; nil: nowhere
}

// Registry holds the tools of a run, unchanged after New. Calls own what they open and start; Close
// comes after the last call.
//
// A trusted command may be run word for word or, ending in " *", with further words without
// characters that mean something to a shell. Trust no program that runs others for its arguments.
type Registry struct {
	tools   map[string]tool
	files   *folders
	log     *slog.Logger
	secrets *secret.Set
}

// tool is one entry of the table.
type tool struct {
	spec    effect.ToolSpec
	timeout time.Duration // 0: DefaultTimeout
	own     bool          // the tool keeps to its timeout itself
	run     func(ctx context.Context, c *call) effect.ToolResult
}

// call is one call of a tool.
type call struct {
	effect.ToolRequest
	timeout time.Duration
}

// FolderError says that a granted folder cannot be opened.
type FolderError struct {
	Path string
	Err  error
}

func (e *FolderError) Error() string { return fmt.Sprintf("open granted folder %q: %v", e.Path, e.Err) }
func (e *FolderError) Unwrap() error { return e.Err }

// TakenError says that two tools have one name.
type TakenError struct{ Name string }

func (e *TakenError) Error() string {
	return fmt.Sprintf("tool %q: there is a tool of that name already", e.Name)
}

// New prepares folders and tools. The error names the folder, or the tool and its field.
func New(o Options) (*Registry, error) {
	if o.Getenv == nil {
		o.Getenv = os.LookupEnv
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	files, err := openFolders(o)
	if err != nil {
		return nil, err
	}
	env := newEnvironment(o)
	r := &Registry{tools: map[string]tool{}, files: files, log: o.Log, secrets: o.Secrets.With(env.secrets...)}
	files.secrets = r.secrets
	for name, made := range builtins {
		r.tools[name] = made(r, o, env)
	}
	r.tools[effect.CommandTool], r.tools[effect.ImagesTool] = validatorTool(env, files.dir()), imagesTool(files)
	if err := r.addGiven(o, env); err != nil {
		return nil, errors.Join(err, files.close())
	}
	return r, nil
}

// addGiven adds the tools of the cascade, and those of the program.
func (r *Registry) addGiven(o Options, env environment) error {
	for i := range o.Declared {
		t, err := declare(&o.Declared[i], env, r.files.dir())
		if err != nil {
			return fmt.Errorf("tool %q: %w", o.Declared[i].ToolID, err)
		}
		if err := r.add(t); err != nil {
			return err
		}
	}
	for _, f := range o.Funcs {
		if err := r.add(f.tool()); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the granted folders.
func (r *Registry) Close() error { return r.files.close() }

// Spec returns what a model is told about a tool. The tools of validators' commands and of images have none.
func (r *Registry) Spec(name string) (effect.ToolSpec, bool) {
	t, ok := r.tools[name]
	if !ok || name == effect.CommandTool || name == effect.ImagesTool {
		return effect.ToolSpec{}, false
	}
	return t.spec, true
}

// Call runs a tool. It returns when nothing of the tool is left running.
func (r *Registry) Call(ctx context.Context, req effect.ToolRequest) (effect.ToolResult, error) {
	t, ok := r.tools[req.Name]
	if !ok {
		return effect.ToolResult{}, fmt.Errorf("no tool named %q", req.Name)
	}
	if err := ctx.Err(); err != nil {
		return effect.ToolResult{}, err
	}
	c := &call{ToolRequest: req, timeout: cmp.Or(max(req.Timeout, 0), max(t.timeout, 0), DefaultTimeout)}
	within := ctx
	if !t.own {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	res := r.guarded(within, t, c)
	if err := ctx.Err(); err != nil {
		return effect.ToolResult{}, err
	}
	if within.Err() != nil && res.Failed {
		res = fail(kindTimeout, "timed out after %s", c.timeout)
	}
	return cutFailure(withoutSecrets(r.secrets, res)), nil
}

// maxFailure bounds a failure's text in bytes: two streams of a command, and why it failed.
const maxFailure = 2*maxText + 4<<10

// cutFailure cuts a failure, which may quote anything. Tools bound their other results.
func cutFailure(res effect.ToolResult) effect.ToolResult {
	for i, p := range res.Parts {
		if res.Failed && len(p.Text) > maxFailure {
			res.Parts[i].Text = command.Cut(p.Text, maxFailure)
		}
	}
	return res
}

// guarded keeps a tool's panic from ending the run. The stack is for the log, not for a model.
func (r *Registry) guarded(ctx context.Context, t tool, c *call) (res effect.ToolResult) {
	defer func() {
		if p := recover(); p != nil {
			r.log.Debug("tool panicked", "tool", c.Name, "panic", r.secrets.Text(fmt.Sprint(p)), "stack", string(debug.Stack()))
			res = fail(kindFailed, "the tool %s failed by an error of its own; try other arguments", c.Name)
		}
	}()
	return t.run(ctx, c)
}

func fail(kind, format string, args ...any) effect.ToolResult {
	return effect.ToolResult{Parts: echo.Text(fmt.Sprintf(format, args...)), Failed: true, Kind: kind}
}

// failure is an error with the kind of the result that it becomes.
type failure struct {
	kind string
	err  error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// answering makes a tool of a function that returns a text, or a [*failure], or another error.
func answering(fn func(ctx context.Context, c *call) (string, error)) func(context.Context, *call) effect.ToolResult {
	return func(ctx context.Context, c *call) effect.ToolResult {
		text, err := fn(ctx, c)
		if err != nil {
			return failedOf(err)
		}
		return effect.ToolResult{Parts: echo.Text(text)}
	}
}

// failedOf returns the result of a call that an error has ended.
func failedOf(err error) effect.ToolResult {
	kind := kindFailed
	if f := new(failure); errors.As(err, &f) {
		kind = f.kind
	}
	return fail(kind, "%s", err.Error())
}

// typed makes a tool of a function over its decoded arguments.
func typed[A any](fn func(ctx context.Context, c *call, args A) (string, error)) func(context.Context, *call) effect.ToolResult {
	return answering(func(ctx context.Context, c *call) (string, error) {
		var args A
		if err := json.Unmarshal(c.Arguments, &args); err != nil {
			return "", &failure{kindBadArguments, fmt.Errorf("the arguments cannot be read: %w", err)}
		}
		return fn(ctx, c, args)
	})
}

// Func is a tool of the program that runs a cascade. Failures and panics are results for the model.
type Func struct {
	Spec    effect.ToolSpec
	Timeout time.Duration // 0: [DefaultTimeout]
	Run     func(ctx context.Context, req effect.ToolRequest) effect.ToolResult
}

// add puts a tool into the table.
func (r *Registry) add(t tool) error {
	if _, taken := r.tools[t.spec.Name]; taken {
		return &TakenError{t.spec.Name}
	}
	r.tools[t.spec.Name] = t
	return nil
}

func (f Func) tool() tool {
	return tool{spec: f.Spec, timeout: f.Timeout, run: func(ctx context.Context, c *call) effect.ToolResult { return f.Run(ctx, c.ToolRequest) }}
}
