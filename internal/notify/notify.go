// Package notify tells people that a run waits: by a request to an address, or by a command. Nothing of it holds up a run for
// long, and nothing of it fails one.
package notify

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/tool/command"
)

// Patience is how long one notification may take.
const Patience = 10 * time.Second

// Notice is what is told of a wait.
type Notice struct {
	ID       string     `json:"id"`
	Kind     string     `json:"kind"`
	Session  string     `json:"session"`
	Root     string     `json:"root"` // the session to resume
	Cascade  string     `json:"cascade"`
	Phase    string     `json:"phase"`
	Question string     `json:"question"` // its first line
	Answer   string     `json:"answer"`   // how it is answered: a command
	Since    time.Time  `json:"since"`
	Deadline *time.Time `json:"deadline,omitempty"`
}

// Sender tells. It is safe for concurrent use.
type Sender struct {
	Targets  []config.Notify
	AllowEnv []string                    // the variables that addresses and headers may name
	Getenv   func(string) (string, bool) // of the environment
	Trusts   func(line string) bool      // whether a command may run, as a line for a shell
	Dir      string                      // where commands run
	Env      []string                    // of commands, as NAME=value
	Patience time.Duration               // 0: [Patience]
	HTTP     http.RoundTripper           // nil: the default one
}

// Key is the name of a target, which is another one when the target changes.
func Key(t config.Notify) string {
	text, err := json.Marshal(t)
	if err != nil {
		panic("windlass: cannot encode its own data: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Send tells one target of a wait. The error says who was not told, and why, without what may be secret.
func (s *Sender) Send(ctx context.Context, t config.Notify, n Notice) error {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(s.Patience, Patience))
	defer cancel()
	body, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("encode the notification: %w", err)
	}
	if len(t.Command) > 0 {
		return s.run(ctx, t.Command, body)
	}
	return s.post(ctx, t, body)
}

// shortest is how much of what a command wrote is told.
const shortest = 200

func (s *Sender) run(ctx context.Context, words []string, body []byte) error {
	line := Line(words)
	if !s.Trusts(line) {
		return &UntrustedError{line}
	}
	res, err := command.Run(ctx, command.Spec{Line: line, Dir: s.Dir, Env: s.Env, Stdin: string(body) + "\n", MaxOutput: 4 << 10})
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("notify by the command %s: it was killed after %s", words[0], cmp.Or(s.Patience, Patience))
	case err != nil:
		return fmt.Errorf("notify by the command %s: %w", words[0], err)
	case res.ExitCode != 0:
		why := ""
		if said := firstLine(res.Stderr.String()); said != "" {
			why = ": " + said
		}
		return fmt.Errorf("notify by the command %s: exit status %d%s", words[0], res.ExitCode, why)
	}
	return nil
}

// UntrustedError says that a command of windlass.json is not one that runs.
type UntrustedError struct{ Line string }

func (e *UntrustedError) Error() string {
	return fmt.Sprintf("notify by the command %s: it is not trusted: list it in trusted_commands of windlass.json, or run with --allow-commands", e.Line)
}

// Line returns a line for a shell that runs a program with arguments as they are.
func Line(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w
		if w == "" || strings.ContainsFunc(w, func(r rune) bool { return !isPlain(r) }) {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

// isPlain reports whether a character means nothing to a shell.
func isPlain(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._/:@%+,-", r)
}

func (s *Sender) post(ctx context.Context, t config.Notify, body []byte) error {
	address, err := s.value(t.Webhook)
	if err != nil {
		return fmt.Errorf("notify by webhook: %w", err)
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" { // of a variable
		return errors.New("notify by webhook: the address is no http or https URL")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("notify %s: the address cannot be used", u.Host)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "windlass")
	for name, value := range t.Headers {
		if value, err = s.value(value); err != nil {
			return fmt.Errorf("notify %s: header %s: %w", u.Host, name, err)
		}
		req.Header.Set(name, value)
	}
	client := &http.Client{Transport: s.HTTP, CheckRedirect: sameHost}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("notify %s: %w", u.Host, withoutAddress(ctx, err))
	}
	defer resp.Body.Close()                                       //nolint:errcheck // only read from
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // the answer says nothing
	if resp.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("notify %s: it answered with %d", u.Host, resp.StatusCode)
	}
	return nil
}

// value returns a value of windlass.json, or that of the variable that it names.
func (s *Sender) value(text string) (string, error) {
	name, is := strings.CutPrefix(text, "${")
	if !is || !strings.HasSuffix(name, "}") {
		return text, nil
	}
	name = strings.TrimSuffix(name, "}")
	if !slices.Contains(s.AllowEnv, name) {
		return "", fmt.Errorf("the variable %s is not granted: run with --allow-env %s", name, name)
	}
	value, ok := s.Getenv(name)
	if !ok || value == "" {
		return "", fmt.Errorf("the variable %s is not set", name)
	}
	return value, nil
}

// withoutAddress returns why a request failed without its address, which may be secret.
func withoutAddress(ctx context.Context, err error) error {
	var u *url.Error
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return errors.New("it did not answer in time")
	case errors.As(err, &u):
		return u.Err
	}
	return err
}

var errRedirect = errors.New("it redirects to another host, which is not followed")

// maxRedirects is how often an address may lead to another one of the same host.
const maxRedirects = 5

func sameHost(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	if len(via) > maxRedirects || req.URL.Host != first.Host || req.URL.Scheme != first.Scheme {
		return errRedirect
	}
	return nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if len(line) > shortest {
		line = strings.ToValidUTF8(line[:shortest], "") + "..."
	}
	return line
}
