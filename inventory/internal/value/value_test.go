package value

import (
	"testing"
	"time"
)

func TestTimes(t *testing.T) {
	clock := Times{Now: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)}
	want := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, s := range []string{
		"1577836800", "1577836800000", "1577836800000000", "1577836800000000000", "1577836800.0", "1.5778368e9",
		"2020-01-01T00:00:00Z", "2020-01-01T00:00:00.000Z", "2020-01-01T00:00:00.0000000Z", "2020-01-01", "2020-01-01 00:00:00", "2020-01-01 00:00:00+00",
		"2020-01-01 00:00:00 UTC", "2020-01-01T02:00:00+02:00", "2020-01-01T02:00:00+0200", "2019-12-31T19:00:00-05", "Wed, 01 Jan 2020 00:00:00 GMT",
	} {
		if got := clock.Text([]byte(s)); !got.Equal(want) {
			t.Errorf("%s: %v", s, got)
		}
	}
	if got := clock.Text([]byte("2020-01-01T00:00:00.123456789Z")); got.Sub(want) != 123456789 {
		t.Error(got)
	}
}

// What no object of a lake can bear is no time, and no error either.
func TestImplausibleTimesAreUnknown(t *testing.T) {
	clock := Times{Now: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)}
	for _, s := range []string{
		"", "0", "-1", "1", "300000", "946684800", "946684800000", "2000-12-31T23:59:59Z", "1970-01-19T00:00:00Z", "2026-11-30T00:00:01Z", "4000000000", "9223372036854775807",
		"2020-13-01", "2020-02-30T00:00:00Z", "2021-02-29", "2020-01-01T24:00:00Z", "2020-01-01T00:00:60Z", "2020-01-01T00:00:00.Z", "2020-01-01T00:00:00+24:00", "2020-01-01T", "yesterday",
		"NaN", "Inf", "1e300", "Wed, 01 Jan 2020 00:00:00 PST", "01/02/2020",
	} {
		if got := clock.Text([]byte(s)); !got.IsZero() {
			t.Errorf("%s: %v", s, got)
		}
	}
}

func FuzzTimes(f *testing.F) {
	for _, s := range []string{"1577836800", "2020-01-01T00:00:00.000Z", "2020-02-29 23:59:59.5+01:30", "2021-02-29", "Wed, 01 Jan 2020 00:00:00 GMT", "1577836800.5"} {
		f.Add(s)
	}
	clock := Times{Now: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)}
	f.Fuzz(func(t *testing.T, s string) {
		got := clock.Text([]byte(s))
		if !got.IsZero() && (got.Before(firstPlausible) || got.After(clock.Now)) {
			t.Fatalf("%q is %v", s, got)
		}
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999", "2006-01-02"} {
			want, err := time.Parse(layout, s)
			iso, ok := ISOTime([]byte(s))
			if err == nil && ok && !iso.Equal(want) {
				t.Fatalf("%q is %v, package time says %v", s, iso, want)
			}
		}
	})
}

func TestSizesAndFlags(t *testing.T) {
	for s, want := range map[string]int64{"0": 0, "12": 12, "": -1, "-1": -1, "1.5": -1, "1e3": -1, "999999999999999999": 999999999999999999, "9999999999999999999": -1} {
		if got := Size([]byte(s)); got != want {
			t.Errorf("%q: %d", s, got)
		}
	}
	for s, want := range map[string]bool{"true": true, "True": true, "TRUE": true, "1": true, "t": true, "yes": true, "Y": true, "false": false, "": false, "0": false, "no": false, "xyz": false} {
		if Truth([]byte(s)) != want {
			t.Errorf("%q isn't %t", s, want)
		}
	}
}

func TestEncodings(t *testing.T) {
	for _, c := range []struct {
		e        Encoding
		in, want string
		ok       bool
	}{
		{Raw, "a+b%20c%", "a+b%20c%", true},
		{Percent, "a+b%20c", "a+b c", true},
		{Form, "p%3D1/f+1", "p=1/f 1", true}, // B058
		{Form, "a%2Bb%252Bc%C3%A9%FF", "a+b%2Bcé\xff", true},
		{Form, "50%", "", false}, {Form, "%4", "", false}, {Percent, "%zz", "", false},
	} {
		got, ok := c.e.AppendDecoded(nil, []byte(c.in))
		if ok != c.ok || ok && string(got) != c.want {
			t.Errorf("%v %q: %q, %t", c.e, c.in, got, ok)
		}
	}
}
