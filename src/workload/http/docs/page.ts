/** Nothing on the page may come from, or go to, another host. The page's parts style themselves, and draw their icons. */
export const PAGE_POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'"

/** The page that shows the document; `path` is where it was asked for, with or without a slash at the end. */
export function docsPage(path: string): string {
  const here = path.endsWith('/') ? '.' : './docs'
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Easel: API</title>
<link rel="icon" href="${here}/static/favicon-32x32.png">
<link rel="stylesheet" href="${here}/static/swagger-ui.css">
</head>
<body>
<div id="page"></div>
<script src="${here}/static/swagger-ui-bundle.js"></script>
<script src="${here}/static/start.js"></script>
</body>
</html>
`
}

/** Shows the document, which lies beside the folder of this script. Its validator is a service elsewhere. */
export const PAGE_SCRIPT = `SwaggerUIBundle({
  url: new URL('../json', document.currentScript.src).href,
  dom_id: '#page',
  deepLinking: true,
  validatorUrl: null,
})
`

/** Of the page's package, what the page needs; the rest would show another program's interface. */
export const isPageFile = (path: string): boolean =>
  /^\/(swagger-ui\.css|swagger-ui-bundle\.js|favicon-32x32\.png)$/.test(path)
