// Package svg writes pictures as SVG documents of their own: without scripts, and without anything that they would have to
// load. It is pure: shapes go in, text comes out. What a picture shows is its caller's business.
package svg

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
)

type (
	// A Text is a line of letters; its Title is shown where the pointer is.
	Text struct {
		XMLName xml.Name `xml:"text"`
		X       Units    `xml:"x,attr"`
		Y       Units    `xml:"y,attr"`
		Class   string   `xml:"class,attr,omitempty"`
		Text    string   `xml:",chardata"`
		Title   string   `xml:"title,omitempty"`
	}
	// A Rect is a bar.
	Rect struct {
		XMLName xml.Name `xml:"rect"`
		X       Units    `xml:"x,attr"`
		Y       Units    `xml:"y,attr"`
		Width   Units    `xml:"width,attr"`
		Height  Units    `xml:"height,attr"`
		Class   string   `xml:"class,attr"`
		Title   string   `xml:"title,omitempty"`
	}
	// A Line is a stroke from one point to another.
	Line struct {
		XMLName xml.Name `xml:"line"`
		X1      Units    `xml:"x1,attr"`
		Y1      Units    `xml:"y1,attr"`
		X2      Units    `xml:"x2,attr"`
		Y2      Units    `xml:"y2,attr"`
		Class   string   `xml:"class,attr"`
	}
	// Units are a length in the units of the picture.
	Units float64
)

// MarshalXMLAttr writes at most two digits of fraction.
func (u Units) MarshalXMLAttr(name xml.Name) (xml.Attr, error) {
	text := strconv.FormatFloat(float64(int64(u*100+0.5))/100, 'f', -1, 64)
	return xml.Attr{Name: name, Value: text}, nil
}

// Write writes a picture of a size with a title, a style sheet and its shapes: Text, Rect and Line.
func Write(w io.Writer, wide, high int, title, style string, shapes []any) error {
	enc := xml.NewEncoder(w)
	enc.Indent("", " ")
	if err := enc.Encode(struct {
		XMLName xml.Name `xml:"http://www.w3.org/2000/svg svg"`
		Width   int      `xml:"width,attr"`
		Height  int      `xml:"height,attr"`
		ViewBox string   `xml:"viewBox,attr"`
		Title   string   `xml:"title"`
		Style   string   `xml:"style"`
		Items   []any
	}{Width: wide, Height: high, ViewBox: fmt.Sprintf("0 0 %d %d", wide, high), Title: title, Style: style, Items: shapes}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
