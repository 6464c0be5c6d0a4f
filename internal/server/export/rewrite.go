package export

import (
	"io"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// document is the content of one page.
type document struct {
	main *html.Node
	size int // bytes of the page
}

// ServerOnly marks what works on a server only: it is in no file, and a link that has it is none.
const ServerOnly = "data-server"

func newDocument(main *html.Node, size int) *document {
	main.Parent.RemoveChild(main)
	removeUnusable(main)
	return &document{main, size}
}

// removeUnusable takes out what does nothing in a file: forms, scripts, and what is marked.
func removeUnusable(n *html.Node) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		if c.Type == html.ElementNode && (slices.Contains(unusable, c.DataAtom) || attribute(c, ServerOnly) != nil && c.DataAtom != atom.A) {
			n.RemoveChild(c)
		} else {
			removeUnusable(c)
		}
		c = next
	}
}

var unusable = []atom.Atom{atom.Form, atom.Script, atom.Iframe, atom.Canvas, atom.Datalist, atom.Button, atom.Link, atom.Meta, atom.Object, atom.Embed}

// links returns the addresses below a base that the links of the page lead to, each once, without fragments.
func (d *document) links(base string) (out []string) {
	each(d.main, func(n *html.Node) {
		if n.DataAtom != atom.A || attribute(n, ServerOnly) != nil {
			return
		}
		href := attribute(n, "href")
		if href == nil {
			return
		}
		address, _, _ := strings.Cut(href.Val, "#")
		path, _, _ := strings.Cut(address, "?")
		if (path == base || strings.HasPrefix(path, base+"/")) && !slices.Contains(out, address) {
			out = append(out, address)
		}
	})
	return out
}

// render writes the page as a part of the file: its ids are those of the part, and its links lead to the parts that there
// are. A link to anything else is none.
func (d *document) render(w io.Writer, id string, parts map[string]string) error {
	each(d.main, func(n *html.Node) {
		for i := range n.Attr {
			a := &n.Attr[i]
			switch a.Key {
			case "id":
				a.Val = id + "-" + a.Val
			case "for", "aria-labelledby", "aria-describedby", "aria-controls", "headers", "list":
				words := strings.Fields(a.Val)
				for j := range words {
					words[j] = id + "-" + words[j]
				}
				a.Val = strings.Join(words, " ")
			}
		}
		if n.DataAtom == atom.A {
			relink(n, id, parts)
		}
		n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool { return reaches(a.Key) || strings.HasPrefix(a.Key, "on") })
	})
	set(d.main, "id", id)
	if err := html.Render(w, d.main); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// reaches reports whether an attribute makes a browser ask for something.
func reaches(name string) bool {
	return slices.Contains([]string{"src", "srcset", "action", "formaction", "poster", "data", "ping", "background", "style", "data-live", "data-series"}, name)
}

func relink(n *html.Node, id string, parts map[string]string) {
	href := attribute(n, "href")
	if href == nil {
		return
	}
	address, fragment, _ := strings.Cut(href.Val, "#")
	to := id // the page itself
	if address != "" {
		to = parts[address]
	}
	if fragment, err := url.PathUnescape(fragment); err == nil && fragment != "" {
		to += "-" + fragment
	}
	if to == "" || address != "" && parts[address] == "" || attribute(n, ServerOnly) != nil {
		n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "href" })
		return
	}
	href.Val = "#" + to
}

func each(n *html.Node, see func(*html.Node)) {
	if n.Type == html.ElementNode {
		see(n)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		each(c, see)
	}
}

func attribute(n *html.Node, name string) *html.Attribute {
	for i := range n.Attr {
		if n.Attr[i].Key == name {
			return &n.Attr[i]
		}
	}
	return nil
}

func set(n *html.Node, name, value string) {
	if a := attribute(n, name); a != nil {
		a.Val = value
		return
	}
	n.Attr = append(n.Attr, html.Attribute{Key: name, Val: value})
}

func find(n *html.Node, tag string) *html.Node {
	if n.Type == html.ElementNode && n.Data == tag {
		return n
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if found := find(c, tag); found != nil {
			return found
		}
	}
	return nil
}

// text returns the text of a node and all below.
func text(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		b.WriteString(text(c) + " ")
	}
	return b.String()
}
