#include "stroke_font.hpp"

#include <algorithm>
#include <array>

namespace kernelpack::cli {
namespace {

constexpr double kCapitalHeight = 6;
constexpr double kGap = 1.7;
constexpr double kSpace = 2.2;

// Strokes of the characters '!' to '~' on a grid: two digits are x and y of a point, a blank lifts the pen.
constexpr std::array<std::string_view, 94> kGlyphs{
    "0004 0606",                         // !
    "0002 2022",                         // "
    "1016 3036 0242 0444",               // #
    "413010010213334445361605 2027",     // $
    "4006 0010110100 3646453536",        // %
    "46111020210405162644",              // &
    "0002",                              // '
    "20110215 1526 0204",                // (
    "00112214 2415 1506",                // )
    "2125 0244 4204",                    // *
    "0343 2125",                         // +
    "1607",                              // ,
    "0333",                              // -
    "0606",                              // .
    "3006",                              // /
    "103041453616050110",                // 0
    "112026 1636",                       // 1
    "01103041420646",                    // 2
    "01103041423313 334445361605",       // 3
    "36300444",                          // 4
    "40000312324345361605",              // 5
    "3010010516364544331304",            // 6
    "004016",                            // 7
    "13020110304142331304051636454433",  // 8
    "1636454130100102133342",            // 9
    "0202 0606",                         // :
    "1212 1607",                         // ;
    "310335",                            // <
    "0242 0444",                         // =
    "013305",                            // >
    "01103041422324 2626",               // ?
    "4536160501103041433423224243",      // @
    "062046 1434",                       // A
    "0333424130000636454433",            // B
    "4130100105163645",                  // C
    "00304145360600",                    // D
    "40000646 0333",                     // E
    "400006 0333",                       // F
    "41301001051636454323",              // G
    "0006 4046 0343",                    // H
    "0006",                              // I
    "3035261605",                        // J
    "0006 400346",                       // K
    "000636",                            // L
    "0600234046",                        // M
    "06004640",                          // N
    "103041453616050110",                // O
    "06003041423303",                    // P
    "103041453616050110 3446",           // Q
    "06003041423303 2346",               // R
    "413010010213334445361605",          // S
    "0040 2026",                         // T
    "000516364540",                      // U
    "002640",                            // V
    "0016223640",                        // W
    "0046 4006",                         // X
    "002340 2326",                       // Y
    "00400646",                          // Z
    "10000616",                          // [
    "0036",                              // backslash
    "00101606",                          // ]
    "022042",                            // ^
    "0747",                              // _
    "0011",                              // `
    "03122233 3336 341405162635",        // a
    "0006 0312223335261605",             // b
    "3322120305162635",                  // c
    "3036 3322120305162635",             // d
    "0434332212030516 162635",           // e
    "20111116 0222",                     // f
    "3237281807 3322120305162635",       // g
    "0006 0312223336",                   // h
    "0206 0000",                         // i
    "121708 1010",                       // j
    "0006 320436",                       // k
    "0006",                              // l
    "0206 03122326 23324346",            // m
    "0206 0312223336",                   // n
    "122233352616050312",                // o
    "0208 0312223335261605",             // p
    "3238 3322120305162635",             // q
    "0206 041222",                       // r
    "32120314243526 2606",               // s
    "101526 0222",                       // t
    "0205162635 3236",                   // u
    "022642",                            // v
    "0216233642",                        // w
    "0236 3206",                         // x
    "0226 4208",                         // y
    "02320636",                          // z
    "20111203141526",                    // {
    "0007",                              // |
    "00111223141506",                    // }
    "03123443",                          // ~
};

std::vector<Stroke> strokes_of(char c) {
  const bool known = c > ' ' && c <= '~';
  const std::string_view code = kGlyphs[static_cast<std::size_t>((known ? c : '?') - '!')];
  std::vector<Stroke> strokes(1);
  for (std::size_t i = 0; i < code.size();) {
    if (code[i] == ' ') {
      strokes.emplace_back();
      ++i;
    } else {
      strokes.back().push_back({static_cast<double>(code[i] - '0'), static_cast<double>(code[i + 1] - '0')});
      i += 2;
    }
  }
  return strokes;
}

}  // namespace

LaidOutText lay_out(std::string_view text) {
  LaidOutText result;
  double pen = 0;
  for (const char c : text) {
    if (c == ' ') {
      pen += kSpace;
      continue;
    }
    std::vector<Stroke> strokes = strokes_of(c);
    double left = 9;
    double right = 0;
    for (const Stroke& stroke : strokes) {
      for (const Point& point : stroke) {
        left = std::min(left, point.x);
        right = std::max(right, point.x);
      }
    }
    for (Stroke& stroke : strokes) {
      for (Point& point : stroke) {
        point = {(pen + point.x - left) / kCapitalHeight, point.y / kCapitalHeight};
      }
      result.strokes.push_back(std::move(stroke));
    }
    pen += right - left + kGap;
  }
  result.width = std::max(0.0, pen - kGap) / kCapitalHeight;
  return result;
}

}  // namespace kernelpack::cli
