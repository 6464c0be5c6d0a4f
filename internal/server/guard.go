package server

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/internal/server/token"
)

// guard decides who may ask: whoever has a token, as every user and page of the machine reaches a
// port of loopback. Pages are refused even with it, by Host, Origin and Sec-Fetch-Site. Attempts
// have no limit: nobody guesses 256 random bits, and another user could lock others out with one.
type guard struct {
	loopback bool
	token    [sha256.Size]byte
	issued   *token.Book // nil: there are no others
	now      func() time.Time
	log      *log.Logger
}

// Caller is who asks: a token with its rights.
type Caller struct {
	Name   string
	Rights []token.Right
}

// May reports whether a caller has a right.
func (c *Caller) May(r token.Right) bool { return slices.Contains(c.Rights, r) }

func newGuard(o Options) (guard, error) {
	if _, err := token.Parse(o.Token); err != nil {
		return guard{}, err
	}
	g := guard{loopback: o.Loopback, token: sha256.Sum256([]byte(o.Token)), issued: o.Issued, now: o.Now, log: o.Log}
	if g.now == nil {
		g.now = time.Now
	}
	return g, nil
}

// checkHost refuses what is for another host, as names of others can stand for loopback.
func (g guard) checkHost(r *http.Request) *Problem {
	if !g.loopback || isLoopbackName(r.Host) {
		return nil
	}
	return NewProblem(ForeignOrigin, "ask for localhost or 127.0.0.1; a proxy in front is to send one of them as Host",
		"the request is for the host %q, and this server listens on loopback only", r.Host)
}

// check returns who asks, or why nobody is answered.
func (g guard) check(r *http.Request) (*Caller, *Problem) {
	if p := g.checkHost(r); p != nil {
		return nil, p
	}
	if fromAnotherSite(r) {
		return nil, NewProblem(ForeignOrigin, "ask from a program, or from a page with the same origin as the API",
			"a page of another site (%s) sent this request",
			cmp.Or(r.Header.Get("Origin"), "Sec-Fetch-Site: "+r.Header.Get("Sec-Fetch-Site")))
	}
	return g.caller(r)
}

const tryToken = "send the header Authorization: Bearer TOKEN; windlass serve token --header prints it"

// caller compares digests: the time it takes tells nothing of a token, not even its length.
func (g guard) caller(r *http.Request) (*Caller, *Problem) {
	scheme, shown, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(shown)))
	own := subtle.ConstantTimeCompare(sum[:], g.token[:]) == 1
	switch {
	case !ok || !strings.EqualFold(scheme, "Bearer"):
	case own:
		return &Caller{token.ServerName, token.Rights()}, nil
	case g.issued != nil:
		found, err := g.issued.Find(sum)
		if err != nil {
			g.log.Printf("warning: no issued token is taken: %v", err)
		}
		if found != nil && found.HasExpired(g.now()) {
			return nil, NewProblem(Unauthorized, "windlass serve token create makes another one, on the server",
				"the token %s has expired at %s", found.Name, found.Expires.Format(time.RFC3339))
		}
		if found != nil {
			return &Caller{found.Name, found.Rights}, nil
		}
	}
	return nil, NewProblem(Unauthorized, tryToken, "the request has no token, or not the right one")
}

// refuseRight says that a token lacks a right.
func refuseRight(c *Caller, right token.Right) *Problem {
	return NewProblem(NotGranted, fmt.Sprintf("a token that has it: windlass serve token create --rights %s, on the server", right),
		"the token %s does not have the right %q", c.Name, right)
}

// isLoopbackName reports whether a Host, with any port, names this machine for itself.
func isLoopbackName(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// fromAnotherSite reports whether a browser asks for a page that is not of this server. Programs
// send neither of the headers.
func fromAnotherSite(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
	default:
		return true
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	u, err := url.Parse(origin)
	return err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host)
}
