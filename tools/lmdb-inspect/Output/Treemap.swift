/// Divides a rectangle into rectangles of given areas with low aspect ratios.
///
/// Source: Bruls, Huizing, van Wijk, *Squarified Treemaps* (2000).
struct Treemap {
  struct Rectangle: Equatable {
    var x: Double
    var y: Double
    var width: Double
    var height: Double
    var area: Double { width * height }
  }

  /// Returns the rectangles in the order of the sizes.
  ///
  /// - Parameters:
  ///   - sizes: Positive numbers in descending order.
  ///   - whole: The rectangle to divide.
  static func rectangles(for sizes: [Double], in whole: Rectangle) -> [Rectangle] {
    let total = sizes.reduce(0, +)
    guard total > 0, whole.area > 0 else { return [] }
    let areas = sizes.map { $0 / total * whole.area }
    var rest = whole
    var result: [Rectangle] = []
    var next = 0
    while next < areas.count {
      let side = min(rest.width, rest.height)
      var end = next + 1
      while end < areas.count,
        worstRatio(areas[next...end], side) <= worstRatio(areas[next..<end], side)
      {
        end += 1
      }
      result += row(areas[next..<end], cutFrom: &rest)
      next = end
    }
    return result
  }

  /// Returns the worst aspect ratio in a row along a side.
  private static func worstRatio(_ areas: ArraySlice<Double>, _ side: Double) -> Double {
    let sum = areas.reduce(0, +)
    guard let least = areas.min(), let most = areas.max(), least > 0, side > 0 else {
      return .infinity
    }
    return max(side * side * most / (sum * sum), sum * sum / (side * side * least))
  }

  /// Lays out areas along the shorter side.
  private static func row(
    _ areas: ArraySlice<Double>, cutFrom rest: inout Rectangle
  ) -> [Rectangle] {
    let sum = areas.reduce(0, +)
    var result: [Rectangle] = []
    if rest.width >= rest.height {
      let width = sum / rest.height
      var y = rest.y
      for area in areas {
        result.append(Rectangle(x: rest.x, y: y, width: width, height: area / width))
        y += area / width
      }
      rest.x += width
      rest.width = max(0, rest.width - width)
    } else {
      let height = sum / rest.width
      var x = rest.x
      for area in areas {
        result.append(Rectangle(x: x, y: rest.y, width: area / height, height: height))
        x += area / height
      }
      rest.y += height
      rest.height = max(0, rest.height - height)
    }
    return result
  }
}
