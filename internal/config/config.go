package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/windlass-run/windlass/internal/source"
)

// FileName is the name of the configuration file.
const FileName = "windlass.json"

// Config is what windlass.json says; the zero value is that of no file. It does not change.
type Config struct {
	Path            string // the file it was read from; empty when there is none
	DefaultModel    string
	EmbeddingModel  string           // the model that embeds texts; empty: the local one
	Models          map[string]Model // by the name used in cascades, or a pattern with * in it
	ClickHouseDSN   string
	TrustedCommands []string
	RequireSandbox  bool // the embedded engine does not run where the system cannot confine it
	Retention       Retention
	Off             Off      // what is switched off of auto_context
	ProtectPaths    []string // what tools do not write, besides the table of package protection
	CascadePaths    []string // further folders in which cascades are found by their ids, as the file has them
	Notify          []Notify // who is told when a run waits
}

// Notify is an address or a command that is told when a run waits. It has one of them.
type Notify struct {
	Webhook string            `json:"webhook,omitempty"` // http or https; "${NAME}" stands for the environment variable
	Headers map[string]string `json:"headers,omitempty"` // of the request; a value "${NAME}" stands for the environment variable
	Command []string          `json:"command,omitempty"` // the program and its arguments
}

// Off is what windlass.json switches off of auto_context, whatever a cascade says.
type Off struct{ IntraPhase, Cards, InterPhase, LLMSelection bool }

// Model is how one model, or those of a pattern, are reached and paid for. Zero means the default.
type Model struct {
	Model           string // the provider's name for it; empty: the name it is asked by
	BaseURL         string // of the OpenAI-compatible endpoint, up to and without /chat/completions
	APIKeyEnv       string // the environment variable that holds the key; the key itself never stands in the file
	Timeout         time.Duration
	IdleTimeout     time.Duration     // to the first byte, and between two pieces of a stream
	MaxRetries      *int              // nil: the default
	RetryWait       time.Duration     // before the first retry; the waits after it double
	Headers         map[string]string // a value "${NAME}" stands for the environment variable
	Price           *Price
	ContextWindow   int
	MaxOutputTokens int
	Dimensions      int                        // of an embedding model's vectors; 0: as many as it gives
	BatchSize       int                        // texts in one request to an embedding model; 0: the default
	MaxTokensParam  string                     // max_completion_tokens (default) or max_tokens
	NativeTools     *bool                      // nil: as the cascade says
	Fallback        []string                   // models that are asked for the rest of a phase when this one cannot be reached
	CacheControl    *bool                      // requests mark what is to be cached; nil: where the endpoint is known to want that
	SendReasoning   string                     // the member in which reasoning is sent back; "": as the endpoint is known to want it
	Images          *bool                      // it takes images; nil: as the table knows
	Stream          *bool                      // answers come in pieces; nil: they do
	Options         map[string]json.RawMessage // further members of the request body
}

// The values of Model.SendReasoning.
const (
	ReasoningContent = "reasoning_content"
	ReasoningDetails = "reasoning_details"
	ReasoningNone    = "none"
)

// Price is what a model costs, in US dollars per million tokens.
type Price struct {
	Input       float64
	CachedInput *float64 // of tokens read from the provider's prefix cache; nil: as much as others
	CacheWrite  *float64 // of tokens written to it, for the shortest time that it keeps them; nil: as much as others
	Output      float64
	Long        *LongPrice // for long requests, where they cost more
	AsOf        string     // the day the figures were true, as 2026-01-31
	Source      string     // where they were read
}

// LongPrice is the price of all tokens of a request of more than Over tokens.
type LongPrice struct {
	Over        int64
	Input       float64
	CachedInput *float64
	CacheWrite  *float64
	Output      float64
}

// Retention says after how many days without a new entry parts of a session may be deleted; 0: never.
type Retention struct {
	CardsDays    int // cards in ClickHouse
	RowsDays     int // rows in ClickHouse, with the cards
	JournalsDays int // folders of sessions on this machine
}

// None reports whether everything is kept.
func (r Retention) None() bool { return r == Retention{} }

// Lookup returns what is said of a model: under its name, else under the pattern that matches with
// the most characters other than *.
func (c *Config) Lookup(name string) (Model, bool) {
	if m, ok := c.Models[name]; ok {
		return m, true
	}
	best, literal := "", -1
	for pattern := range c.Models {
		if n := len(pattern) - strings.Count(pattern, "*"); strings.Contains(pattern, "*") && match(pattern, name) {
			if n > literal || n == literal && pattern < best {
				best, literal = pattern, n
			}
		}
	}
	m, ok := c.Models[best]
	return m, ok && literal >= 0
}

// match reports whether name matches a pattern in which * stands for any characters.
func match(pattern, name string) bool {
	form := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*")
	return regexp.MustCompile("(?s)^" + form + "$").MatchString(name)
}

// CascadeFolders returns CascadePaths as paths that do not depend on where windlass.json is.
func (c *Config) CascadeFolders() []string {
	var out []string
	for _, p := range c.CascadePaths {
		if p = filepath.FromSlash(p); !filepath.IsAbs(p) {
			p = filepath.Join(filepath.Dir(c.Path), p)
		}
		out = append(out, p)
	}
	return out
}

// Find returns the windlass.json of dir, its nearest parent, or home; "" when there is none.
func Find(dir, home string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("look for %s: %w", FileName, err)
	}
	places := []string{dir}
	for parent := filepath.Dir(dir); parent != dir; dir, parent = parent, filepath.Dir(parent) {
		places = append(places, parent)
	}
	if home != "" {
		places = append(places, home)
	}
	for _, p := range places {
		path := filepath.Join(p, FileName)
		info, err := os.Stat(path)
		switch {
		case err == nil && !info.IsDir():
			return path, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR): // a file stands where a folder would
			return "", fmt.Errorf("look for %s: %w", FileName, err)
		}
	}
	return "", nil
}

// Open reads the configuration of commands in dir; without a file it is empty.
func Open(dir, home string) (*Config, error) {
	path, err := Find(dir, home)
	if err != nil {
		return nil, err
	}
	if path == "" {
		return &Config{}, nil
	}
	return Load(path)
}

// Load reads a configuration file. The error is a [*strict.Error] when the content is wrong.
func Load(path string) (*Config, error) {
	data, err := source.ReadFile(path, source.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	return Parse(path, data)
}
