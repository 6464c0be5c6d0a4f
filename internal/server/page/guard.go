package page

import (
	"cmp"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// origin says where a request comes from, as far as the browser says it.
type origin int

const (
	fromHere     origin = iota // a page of this server, the address bar, or a program
	fromLink                   // a person follows a link of another site: what is asked for is a page of its own
	fromStranger               // a page of another site
)

// originOf goes by Sec-Fetch-Site, which no page can change, and where a browser sends none by Origin. A page of this
// server sends "null" as Origin, as its Referrer-Policy wants it: then the CSRF token alone tells it from others.
func originOf(r *http.Request) origin {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "":
	case "same-origin", "none":
		return fromHere
	default:
		if r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document" {
			return fromLink
		}
		return fromStranger
	}
	sent := r.Header.Get("Origin")
	if sent == "" || sent == "null" {
		return fromHere
	}
	if u, err := url.Parse(sent); err != nil || !strings.EqualFold(u.Host, r.Host) {
		return fromStranger
	}
	return fromHere
}

// isTyped reports whether a person has given the browser an address: only then a code in it is used at once. A link of
// another site, and a browser that looks at an address before somebody goes there, have to ask first.
func isTyped(r *http.Request) bool {
	site, purpose := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Sec-Purpose")+r.Header.Get("Purpose")
	return r.Method == http.MethodGet && site == "none" && purpose == "" && r.Header.Get("Sec-Fetch-Mode") == "navigate"
}

// inFrame reports whether a page of this server shows the answer in a frame, as far as the browser says it.
func inFrame(r *http.Request) bool {
	dest := r.Header.Get("Sec-Fetch-Dest")
	return dest == "" || dest == "iframe" && originOf(r) == fromHere
}

// cookieName is one for each port, as all servers of a machine get the cookies of its name.
func cookieName(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		port = ""
	}
	name := "windlass_" + cmp.Or(port, "page")
	if r.TLS != nil {
		return "__Host-" + name
	}
	return name
}

// cookie holds the secret of a login; "" removes it.
func cookie(r *http.Request, secret string) *http.Cookie {
	c := &http.Cookie{
		Name: cookieName(r), Value: secret, Path: "/", HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
		MaxAge: int(sessionTime / time.Second),
	}
	if secret == "" {
		c.MaxAge = -1
	}
	return c
}

// The headers of every answer. What a model has written is in a document of its own, which has no rights at all.
const (
	pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; frame-src 'self'; connect-src 'self'; " +
		"form-action 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
	framePolicy = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
	imagePolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'" // a browser centers an image that is opened by itself
	permissions = "accelerometer=(), camera=(), clipboard-read=(), clipboard-write=(self), display-capture=(), fullscreen=(), geolocation=(), " +
		"gyroscope=(), microphone=(), midi=(), payment=(), usb=(), publickey-credentials-get=(), screen-wake-lock=(), autoplay=()"
)

func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-DNS-Prefetch-Control", "off")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Permissions-Policy", permissions)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// setFrameHeaders replaces those of a page by those of what a model has written.
func setFrameHeaders(h http.Header) {
	h.Set("Content-Security-Policy", framePolicy)
	h.Set("X-Frame-Options", "SAMEORIGIN")
	h.Set("Content-Type", "text/html; charset=utf-8")
}
