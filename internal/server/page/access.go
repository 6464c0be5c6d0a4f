package page

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"sync"
	"time"
)

// How long a code and the cookie that it is exchanged for are good, and how many of each there are at most: the oldest
// makes room.
const (
	codeTime    = 10 * time.Minute
	sessionTime = 12 * time.Hour
	mostCodes   = 64
	mostLogins  = 256
	secretBytes = 32
)

// digest is what the server keeps of a secret.
type digest = [sha256.Size]byte

// login is one browser that has exchanged a code.
type login struct {
	key     [secretBytes]byte // of its CSRF tokens
	expires time.Time
}

// access has the codes and the logins of a server, by the digests of their secrets. They end with the server. It is
// safe for concurrent use.
type access struct {
	now func() time.Time

	mu     sync.Mutex // guards what follows
	codes  map[digest]time.Time
	logins map[digest]*login
}

func newAccess(now func() time.Time) *access {
	return &access{now: now, codes: map[digest]time.Time{}, logins: map[digest]*login{}}
}

func newSecret() string {
	b := make([]byte, secretBytes)
	_, _ = rand.Read(b) // it never fails: the process ends instead
	return base64.RawURLEncoding.EncodeToString(b)
}

// code makes a code that is good once.
func (a *access) code() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	text := newSecret()
	makeRoom(a.codes, mostCodes, func(end time.Time) time.Time { return end })
	a.codes[sha256.Sum256([]byte(text))] = a.now().Add(codeTime)
	return text
}

// enter exchanges a code for a secret that a cookie holds; ok is false when the code is wrong, was used or has expired.
func (a *access) enter(code string) (secret string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	sum := sha256.Sum256([]byte(code))
	end, known := a.codes[sum]
	delete(a.codes, sum)
	if !known || !a.now().Before(end) {
		return "", false
	}
	l := &login{expires: a.now().Add(sessionTime)}
	_, _ = rand.Read(l.key[:])
	secret = newSecret()
	makeRoom(a.logins, mostLogins, func(l *login) time.Time { return l.expires })
	a.logins[sha256.Sum256([]byte(secret))] = l
	return secret, true
}

// makeRoom removes what ends first, until there is room for one more.
func makeRoom[T any](m map[digest]T, most int, end func(T) time.Time) {
	for len(m) >= most {
		var first digest
		var at time.Time
		for key, x := range m {
			if e := end(x); at.IsZero() || e.Before(at) {
				first, at = key, e
			}
		}
		delete(m, first)
	}
}

// loginOf returns the login whose secret is in the cookie of a request, nil when there is none.
func (a *access) loginOf(r *http.Request) *login {
	for _, c := range r.CookiesNamed(cookieName(r)) {
		if l := a.known(sha256.Sum256([]byte(c.Value))); l != nil {
			return l
		}
	}
	return nil
}

func (a *access) known(sum digest) *login {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.logins[sum]
	if l == nil || !a.now().Before(l.expires) {
		delete(a.logins, sum)
		return nil
	}
	return l
}

// leave ends the login of a request.
func (a *access) leave(r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range r.CookiesNamed(cookieName(r)) {
		delete(a.logins, sha256.Sum256([]byte(c.Value)))
	}
}

// token returns the CSRF token of what a form is about, which no other login and no other form has.
func (l *login) token(about string) string {
	mac := hmac.New(sha256.New, l.key[:])
	mac.Write([]byte(about))
	return hex.EncodeToString(mac.Sum(nil))
}

// holds reports whether a token is that of what a form is about.
func (l *login) holds(token, about string) bool {
	return hmac.Equal([]byte(token), []byte(l.token(about)))
}
