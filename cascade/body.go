package cascade

import (
	"mime"
	"slices"
	"strings"
)

// BodyKind returns how values in the body are quoted, and the content type if no header has one.
func (t *Tool) BodyKind() (kind TemplateKind, contentType string) {
	for name, v := range t.Headers {
		if strings.EqualFold(name, "Content-Type") {
			return kindOfMedia(v), ""
		}
	}
	if looksLikeJSON(t.Body) {
		return TemplateJSON, "application/json"
	}
	return TemplateText, "text/plain; charset=utf-8"
}

func kindOfMedia(contentType string) TemplateKind {
	media, _, err := mime.ParseMediaType(contentType)
	switch {
	case err == nil && (media == "application/json" || strings.HasSuffix(media, "+json")):
		return TemplateJSON
	case err == nil && media == "application/x-www-form-urlencoded":
		return TemplateForm
	}
	return TemplateText
}

// looksLikeJSON reports whether a body begins as a JSON object or array, not as a template tag.
func looksLikeJSON(body string) bool {
	start := strings.TrimSpace(body)
	isTag := slices.Contains([]string{"{{", "{%", "{#"}, start[:min(2, len(start))])
	return strings.HasPrefix(start, "[") || strings.HasPrefix(start, "{") && !isTag
}
