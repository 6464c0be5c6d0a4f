// Package export writes the screens of a session as one HTML file, which opens anywhere and asks for nothing.
//
//   - export.go: the file.
//   - visitor.go: the browser that looks at the screens.
//   - rewrite.go: a page as a part of the file.
package export

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/windlass-run/windlass/internal/server/page"
)

// Options say what is written.
type Options struct {
	Session string         // its whole id
	Screens []page.Screens // that have the addresses below /sessions/SESSION
	Now     time.Time
	Pages   int         // at most so many; 0: [MostPages]
	Bytes   int         // of the file, at most about so many; 0: [MostBytes]
	Step    func(n int) // is called after each page; nil: nobody asks
}

// The default limits.
const (
	MostPages = 2000
	MostBytes = 64 << 20
)

// Written says what is in a file.
type Written struct {
	Pages   int `json:"pages"`    // in the file
	LeftOut int `json:"left_out"` // pages that links lead to and that had no room
	Bytes   int `json:"bytes"`
}

// part is a page of the file.
type part struct {
	address string
	id      string
	doc     *document
}

// Write writes the file. The first page is the screen of the run; the others are those that links lead to, in the order of
// how far they are. Nothing is written when the first page cannot be made.
func Write(ctx context.Context, w io.Writer, o Options) (*Written, error) {
	v, err := newVisitor(ctx, o)
	if err != nil {
		return nil, err
	}
	base := "/sessions/" + url.PathEscape(o.Session)
	parts, left, err := collect(ctx, v, base, &o)
	if err != nil {
		return nil, err
	}
	ids := map[string]string{}
	for i := range parts {
		ids[parts[i].address] = parts[i].id
	}
	styles, err := v.styles()
	if err != nil {
		return nil, err
	}
	out := &counter{w: w}
	_, err = io.WriteString(out, opening(&o, styles, len(parts), left))
	for i := 0; i < len(parts) && err == nil; i++ {
		err = parts[i].write(out, ids)
	}
	if err == nil {
		_, err = io.WriteString(out, "</body>\n</html>\n")
	}
	if err != nil {
		return nil, fmt.Errorf("write the file: %w", err)
	}
	return &Written{len(parts), left, out.n}, nil
}

// collect asks for pages until no link leads to another one, or there is no more room.
func collect(ctx context.Context, v *visitor, base string, o *Options) (parts []part, left int, err error) {
	queue, seen, size := []string{base}, map[string]bool{base: true}, 0
	mostPages, mostBytes := cmp.Or(o.Pages, MostPages), cmp.Or(o.Bytes, MostBytes)
	for len(queue) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		address := queue[0]
		queue = queue[1:]
		if len(parts) >= mostPages || size >= mostBytes {
			left++
			continue
		}
		doc, err := v.page(address)
		var missing *statusError
		if errors.As(err, &missing) && len(parts) > 0 {
			continue // a link to what is not there is a text of the file
		}
		if err != nil {
			return nil, 0, err
		}
		for _, link := range doc.links(base) {
			if !seen[link] {
				seen[link] = true
				queue = append(queue, link)
			}
		}
		size += doc.size
		parts = append(parts, part{address: address, id: fmt.Sprintf("p%d", len(parts)+1), doc: doc})
		if o.Step != nil {
			o.Step(len(parts))
		}
	}
	return parts, left, nil
}

// opening is the beginning of the file.
func opening(o *Options, styles string, pages, left int) string {
	var b strings.Builder
	title := html.EscapeString("Session " + o.Session)
	b.WriteString("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	b.WriteString(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'">` + "\n")
	b.WriteString("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n")
	b.WriteString("<meta name=\"referrer\" content=\"no-referrer\">\n")
	fmt.Fprintf(&b, "<title>%s · windlass</title>\n<style>\n%s\n%s</style>\n</head>\n<body class=\"wide\">\n", title, strings.ReplaceAll(styles, "</", `<\/`), onePage)
	fmt.Fprintf(&b, "<header class=\"bar\"><a class=\"brand\" href=\"#p1\">windlass</a><span>%s, as of %s. %s</span></header>\n",
		title, html.EscapeString(o.Now.Local().Format("2 January 2006 15:04:05 MST")), html.EscapeString(sizeText(pages, left)))
	return b.String()
}

// onePage shows the page that the address of the file names, or the first.
const onePage = `body > main { display: none; }
body > main:target, body > main:has(:target), body:not(:has(main :target, main:target)) > main:first-of-type { display: block; }
`

func sizeText(pages, left int) string {
	text := fmt.Sprintf("%d pages", pages)
	if pages == 1 {
		text = "1 page"
	}
	if left > 0 {
		text += fmt.Sprintf("; %d more had no room", left)
	}
	return text + "."
}

// counter counts what is written.
type counter struct {
	w io.Writer
	n int
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += n
	return n, err
}

func (p *part) write(w io.Writer, ids map[string]string) error {
	var b bytes.Buffer
	if err := p.doc.render(&b, p.id, ids); err != nil {
		return err
	}
	p.doc = nil // it is not needed any more
	_, err := w.Write(b.Bytes())
	return err
}
