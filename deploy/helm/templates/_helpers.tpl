{{- define "waxwing.image" -}}
{{- $repository := required "set image.repository to the image that you pushed" .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end }}

{{- define "waxwing.selector" -}}
app.kubernetes.io/name: waxwing
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "waxwing.labels" -}}
{{ include "waxwing.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "waxwing.pod" -}}
automountServiceAccountToken: false
# With service links, a service named "server" would set SERVER_PORT, which the program would read as a setting.
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  # Mounted secrets belong to root and are readable by this group.
  fsGroup: 1000
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "waxwing.container" -}}
image: {{ include "waxwing.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{- define "waxwing.probes" -}}
# A starting process may have to wait while another process migrates the database.
startupProbe:
  httpGet: { path: /health/live, port: http }
  periodSeconds: 5
  failureThreshold: 120
livenessProbe:
  httpGet: { path: /health/live, port: http }
  periodSeconds: 15
  timeoutSeconds: 5
{{- end }}
