internal import ArborModel
import ArborJSON
import Foundation

#if canImport(FoundationXML)
  import FoundationXML
#endif

final class ModelXMLParser: NSObject, XMLParserDelegate {
  private var open: [ModelXMLNode] = []
  private var root: ModelXMLNode?
  /// The first error. Later ones are usually its consequences.
  private var fault: (code: Int, position: ModelXMLText.Position)?
  private var tooDeep: ModelXMLText.Position?

  /// Models nest four elements. Unknown elements are preserved, but releasing a much deeper tree
  /// would overflow the stack.
  static let maximumDepth = 64

  /// Returns the root element of a document.
  ///
  /// - Throws: ``ArborError`` `invalidModel` with line and column if the text is malformed.
  static func parse(_ data: Data, text: ModelXMLText) throws(ArborError) -> ModelXMLNode {
    try checkEncoding(data, text)
    let parser = XMLParser(data: data)
    let builder = ModelXMLParser()
    parser.delegate = builder
    parser.shouldResolveExternalEntities = false
    // The result is unreliable: it is `true` for truncated documents and mismatched tags.
    _ = parser.parse()
    if let position = builder.tooDeep {
      throw ArborError(
        .invalidModel,
        "The XML nests elements more than \(maximumDepth) deep, which no model does; restore the "
          + "file."
      ).with(location: text.start(ofTagEndingAt: position))
    }
    if builder.fault == nil, let error = parser.parserError as NSError? {
      builder.fault = (error.code, builder.position(of: parser))
    }
    let endsEarly = builder.fault.map { Self.codesOfAnEarlyEnd.contains($0.code) } ?? true
    if endsEarly, let unclosed = builder.open.last {
      throw ArborError(
        .invalidModel,
        "The XML ends before the element \(unclosed.name) does; the file is cut off, restore it."
      ).with(location: text.start(ofTagEndingAt: unclosed.tagEnd))
    }
    if let fault = builder.fault {
      throw ArborError(
        .invalidModel,
        "The XML is malformed: \(Self.words(for: fault.code)); correct it, or restore the file."
      ).with(location: text.location(of: fault.position))
    }
    guard let root = builder.root else {
      throw ArborError(
        .invalidModel, "The file holds no XML element; restore the file."
      ).with(location: text.location(of: .init(line: 1, column: 1)))
    }
    return root
  }

  /// Rejects invalid UTF-8, on which Foundation's parser traps.
  private static func checkEncoding(_ data: Data, _ text: ModelXMLText) throws(ArborError) {
    let fault = data.withUnsafeBytes { UTF8Check.firstFault(in: $0, from: 0, to: $0.count) }
    guard let fault else { return }
    throw ArborError(
      .invalidModel, "The file is no UTF-8; save it as UTF-8, or restore it."
    ).with(location: data.withUnsafeBytes { text.location(ofByte: fault, in: $0) })
  }

  private func position(of parser: XMLParser) -> ModelXMLText.Position {
    .init(line: parser.lineNumber, column: parser.columnNumber)
  }

  /// The libxml2 codes for a premature end of the document and for an unfinished tag.
  private static let codesOfAnEarlyEnd: Set<Int> = [5, 77]

  /// Returns a message for one of libxml2's error codes, which are all that the parser reports.
  private static func words(for code: Int) -> String {
    switch code {
    case 4: "the document is empty"
    case 5: "something follows the end of the document"
    case 9: "there is a character that XML does not allow"
    case 26: "there is a name for a character or text that is not defined"
    case 38: "an attribute's value holds <, which is written &lt;"
    case 39, 40: "an attribute's value does not stand in quotation marks"
    case 41: "an attribute has no value"
    case 42: "an element has one attribute twice"
    case 65: "a space is missing between attributes"
    case 68: "a name is missing"
    case 73: "a > is missing"
    case 76: "an element is closed that is not the one last opened"
    case 89: "texts that stand for others are nested too deeply"
    default: "error \(code) of the XML parser"
    }
  }

  // MARK: XMLParserDelegate

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
    qualifiedName: String?, attributes: [String: String]
  ) {
    guard tooDeep == nil else { return }
    guard open.count < Self.maximumDepth else {
      tooDeep = position(of: parser)
      parser.abortParsing()
      return
    }
    open.append(ModelXMLNode(name, attributes, tagEnd: position(of: parser)))
  }

  func parser(
    _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
  ) {
    guard tooDeep == nil, let closed = open.popLast() else { return }
    if open.isEmpty {
      root = closed
    } else {
      open[open.count - 1].children.append(closed)
    }
  }

  func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
    if fault == nil { fault = ((error as NSError).code, position(of: parser)) }
  }
}
