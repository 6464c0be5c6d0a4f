package serveflags

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
	"time"

	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/server/token"
)

// pageTime is how long a server may take to make an address, and maxAnswer what is read of its answer.
const (
	pageTime  = 10 * time.Second
	maxAnswer = 64 << 10
)

// Page has the server of a home folder at an address make an address that opens its page, and returns that. With "" as the
// address there must be one server only that has made its token.
func Page(ctx context.Context, home, file, address string, l *log.Logger) (string, error) {
	text, given, err := givenToken(file, l)
	switch {
	case err != nil:
		return "", err
	case given != "" && address == "":
		return "", exit.UsageError(errors.New("the address of the server is needed, as its token was given to it"), "windlass serve token --page 127.0.0.1:8765")
	case given == "":
		if address, err = token.Address(token.Folder(home), address); err == nil {
			text, err = token.Find(token.Folder(home), address)
		}
		if err != nil {
			return "", tokenProblem(err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, pageTime)
	defer cancel()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	path, err := openPage(ctx, client, "http://"+address, text)
	if !errors.Is(err, errTLS) {
		return pageAddress("http://"+address, path, err)
	}
	path, err = openPage(ctx, client, "https://"+address, text)
	return pageAddress("https://"+address, path, err)
}

func pageAddress(base, path string, err error) (string, error) {
	if err != nil {
		return "", exit.With(exit.Failed, fmt.Errorf("have the server at %s open its page: %w", base, err),
			"windlass serve, which prints an address when it starts; SSL_CERT_FILE names a file with the certificate of a server that others have not signed")
	}
	return base + path, nil
}

// errTLS is the answer of a server with TLS to a request without.
var errTLS = errors.New("it speaks TLS")

// openPage returns the path that opens the page of a server.
func openPage(ctx context.Context, client *http.Client, base, text string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/api/page", nil)
	if err != nil {
		return "", err
	}
	r.Header.Set("Authorization", "Bearer "+text)
	resp, err := client.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close() //nolint:errcheck // only read from
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return "", err
	}
	if resp.StatusCode == http.StatusBadRequest && strings.Contains(string(body), "HTTPS server") {
		return "", errTLS
	}
	var answer struct{ Path, Detail string }
	if json.Unmarshal(body, &answer) != nil || !strings.HasPrefix(answer.Path, "/") {
		return "", fmt.Errorf("%s %s", resp.Status, answer.Detail)
	}
	return answer.Path, nil
}
