package server

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/windlass-run/windlass/internal/server/token"
)

// guard decides who may ask: whoever has the token, as every user and page of the machine reaches a
// port of loopback. Pages are refused even with it, by Host, Origin and Sec-Fetch-Site. Attempts
// have no limit: nobody guesses 256 random bits, and another user could lock others out with one.
type guard struct {
	loopback bool
	token    [sha256.Size]byte
}

func newGuard(o Options) (guard, error) {
	if _, err := token.Parse(o.Token); err != nil {
		return guard{}, err
	}
	return guard{loopback: o.Loopback, token: sha256.Sum256([]byte(o.Token))}, nil
}

func (g guard) check(r *http.Request) *Problem {
	switch {
	case g.loopback && !isLoopbackName(r.Host):
		return NewProblem(ForeignOrigin, "ask for localhost or 127.0.0.1; a proxy in front is to send one of them as Host",
			"the request is for the host %q, and this server listens on loopback only", r.Host)
	case fromAnotherSite(r):
		return NewProblem(ForeignOrigin, "ask from a program, or from a page with the same origin as the API",
			"a page of another site (%s) sent this request",
			cmp.Or(r.Header.Get("Origin"), "Sec-Fetch-Site: "+r.Header.Get("Sec-Fetch-Site")))
	case !g.hasToken(r):
		return NewProblem(Unauthorized, "send the header Authorization: Bearer TOKEN; windlass serve token --header prints it",
			"the request has no token, or not the right one")
	}
	return nil
}

// hasToken compares digests: the time it takes tells nothing of the token, not even its length.
func (g guard) hasToken(r *http.Request) bool {
	scheme, shown, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(shown)))
	return subtle.ConstantTimeCompare(sum[:], g.token[:]) == 1 && ok && strings.EqualFold(scheme, "Bearer")
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
