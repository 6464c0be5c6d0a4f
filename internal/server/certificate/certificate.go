// Package certificate reads a server's certificate and key, and again whenever their files change.
package certificate

import (
	"crypto/tls"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

const lookEvery = time.Second

// maxFile bounds what is read of each file: a chain of certificates has a few kilobytes.
const maxFile = 1 << 20

// Pair is a certificate and its key in files. It is safe for concurrent use.
type Pair struct {
	certFile, keyFile string
	report            func(string)
	now               func() time.Time

	mu      sync.Mutex
	current *tls.Certificate
	seen    [2]os.FileInfo // what the files were when they were read last
	looked  time.Time
}

// Load reads a certificate and its key. report gets a line when they were, or cannot be, read again.
func Load(certFile, keyFile string, report func(string)) (*Pair, error) {
	return load(certFile, keyFile, report, time.Now)
}

func load(certFile, keyFile string, report func(string), now func() time.Time) (*Pair, error) {
	p := &Pair{certFile: certFile, keyFile: keyFile, report: report, now: now, looked: now()}
	seen, err := p.look()
	if err != nil {
		return nil, err
	}
	if p.current, err = p.read(); err != nil {
		return nil, err
	}
	p.seen = seen
	return p, nil
}

// Config returns the settings for TLS 1.2 or newer, with the certificate as it is at each
// handshake.
func (p *Pair) Config() *tls.Config {
	get := func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.get(), nil }
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: get}
}

// Until returns when the certificate in use expires.
func (p *Pair) Until() time.Time { return p.get().Leaf.NotAfter }

func (p *Pair) get() *tls.Certificate {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if now.Sub(p.looked) < lookEvery {
		return p.current
	}
	p.looked = now
	seen, err := p.look()
	if err != nil || same(seen, p.seen) { // one that is missing may be about to be replaced
		return p.current
	}
	p.seen = seen
	c, err := p.read()
	if err != nil {
		p.report(fmt.Sprintf("warning: the certificate changed and cannot be used, so the one from before stays: %v", err))
		return p.current
	}
	p.current = c
	p.report("the certificate was read again; it is valid until " + c.Leaf.NotAfter.UTC().Format(time.RFC3339))
	return c
}

func (p *Pair) look() (seen [2]os.FileInfo, err error) {
	for i, file := range []string{p.certFile, p.keyFile} {
		if seen[i], err = os.Stat(file); err != nil {
			return seen, err
		}
	}
	return seen, nil
}

func same(a, b [2]os.FileInfo) bool {
	for i := range a {
		if !os.SameFile(a[i], b[i]) || a[i].Size() != b[i].Size() || !a[i].ModTime().Equal(b[i].ModTime()) {
			return false
		}
	}
	return true
}

func (p *Pair) read() (*tls.Certificate, error) {
	cert, err := readFile(p.certFile, nil)
	if err != nil {
		return nil, fmt.Errorf("read the certificate: %w", err)
	}
	key, err := readFile(p.keyFile, private)
	if err != nil {
		return nil, fmt.Errorf("read the key of the certificate: %w", err)
	}
	c, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("use the certificate %s with the key %s: %w", p.certFile, p.keyFile, err)
	}
	switch now := p.now(); {
	case now.After(c.Leaf.NotAfter):
		return nil, fmt.Errorf("the certificate %s expired at %s", p.certFile, c.Leaf.NotAfter.UTC().Format(time.RFC3339))
	case now.Before(c.Leaf.NotBefore):
		return nil, fmt.Errorf("the certificate %s is not valid before %s", p.certFile, c.Leaf.NotBefore.UTC().Format(time.RFC3339))
	}
	return &c, nil
}

// readFile reads a file that check, if there is one, accepts. It does not wait for what is no file.
func readFile(path string, check func(string, os.FileInfo) error) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	if check != nil {
		if err := check(path, info); err != nil {
			return nil, err
		}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("%s has more than %d bytes", path, maxFile)
	}
	return data, err
}

// private refuses a key that others can use. A group may read it, as systems have one for that.
func private(path string, info os.FileInfo) error {
	if mode := info.Mode().Perm(); modesCount && mode&0o027 != 0 {
		return fmt.Errorf("%s can be used by other users of this machine (mode %04o); chmod 600 %s, or 640 for a group",
			path, mode, path)
	}
	return nil
}
